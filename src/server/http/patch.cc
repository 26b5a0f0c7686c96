#include "server/http/patch.h"

#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/limits.h"
#include "base/strings.h"
#include "server/rules/metadata_rules.h"

namespace muster::server {
namespace {

constexpr std::size_t kMaxOperations = 10'000;

using Pointer = std::vector<std::string>;

std::optional<Pointer> parse_pointer(const json::Value& value) {
  const std::string& text = value.as_string();
  if (!value.is_string() || (!text.empty() && text[0] != '/')) return std::nullopt;
  Pointer pointer;
  if (text.empty()) return pointer;
  for (const std::string_view part : split(std::string_view(text).substr(1), '/')) {
    std::string token;
    for (std::size_t i = 0; i < part.size(); ++i) {
      if (part[i] != '~') {
        token += part[i];
      } else if (i + 1 < part.size() && (part[i + 1] == '0' || part[i + 1] == '1')) {
        token += part[++i] == '0' ? '~' : '/';
      } else {
        return std::nullopt;
      }
    }
    pointer.push_back(std::move(token));
  }
  return pointer;
}

std::optional<std::size_t> parse_index(const std::string& token, std::size_t limit) {
  if (token.empty() || (token.size() > 1 && token[0] == '0')) return std::nullopt;
  const auto number = parse_int(token);
  if (!number || *number < 0 || static_cast<std::size_t>(*number) >= limit) return std::nullopt;
  return static_cast<std::size_t>(*number);
}

json::Value* child(json::Value& parent, const std::string& token) {
  if (parent.is_object()) return parent.object().find(token);
  if (!parent.is_array()) return nullptr;
  const auto index = parse_index(token, parent.array().size());
  return index ? &parent.array()[*index] : nullptr;
}

// The value that the pointer's first `count` tokens lead to.
json::Value* walk(json::Value& root, const Pointer& pointer, std::size_t count) {
  json::Value* at = &root;
  for (std::size_t i = 0; i < count && at != nullptr; ++i) at = child(*at, pointer[i]);
  return at;
}

bool add(json::Value& root, const Pointer& pointer, json::Value value) {
  if (pointer.empty()) {
    root = std::move(value);
    return true;
  }
  json::Value* parent = walk(root, pointer, pointer.size() - 1);
  if (parent == nullptr) return false;
  const std::string& last = pointer.back();
  if (parent->is_object()) {
    parent->object().set(last, std::move(value));
    return true;
  }
  if (!parent->is_array()) return false;
  json::Array& array = parent->array();
  const auto index =
      last == "-" ? std::optional(array.size()) : parse_index(last, array.size() + 1);
  if (!index) return false;
  array.insert(array.begin() + static_cast<std::ptrdiff_t>(*index), std::move(value));
  return true;
}

bool remove(json::Value& root, const Pointer& pointer) {
  if (pointer.empty()) return false;
  json::Value* parent = walk(root, pointer, pointer.size() - 1);
  if (parent == nullptr) return false;
  if (parent->is_object()) return parent->object().erase(pointer.back());
  if (!parent->is_array()) return false;
  const auto index = parse_index(pointer.back(), parent->array().size());
  if (!index) return false;
  parent->array().erase(parent->array().begin() + static_cast<std::ptrdiff_t>(*index));
  return true;
}

bool is_prefix(const Pointer& prefix, const Pointer& of) {
  return prefix.size() < of.size() && std::equal(prefix.begin(), prefix.end(), of.begin());
}

bool apply(json::Value& root, const json::Value& operation, const Pointer& path,
           const std::optional<Pointer>& from) {
  const std::string& name = operation["op"].as_string();
  if (name == "add") return add(root, path, operation["value"]);
  if (name == "remove") return remove(root, path);
  json::Value* there = walk(root, path, path.size());
  if (name == "test") return there != nullptr && *there == operation["value"];
  if (name == "replace") {
    if (there == nullptr) return false;
    *there = operation["value"];
    return true;
  }
  if (!from) return false;
  json::Value* source = walk(root, *from, from->size());
  if (source == nullptr || is_prefix(*from, path)) return false;
  json::Value value = *source;
  if (name == "move" && !remove(root, *from)) return false;
  return (name == "move" || name == "copy") && add(root, path, std::move(value));
}

}  // namespace

void merge_patch(json::Value& target, const json::Value& patch) {
  if (!patch.is_object()) {
    target = patch;
    return;
  }
  if (!target.is_object()) target = json::Object();
  for (const auto& [key, value] : patch.as_object()) {
    if (value.is_null()) {
      target.object().erase(key);
    } else {
      merge_patch(target.object()[key], value);
    }
  }
}

Result<void> json_patch(json::Value& target, const json::Value& patch) {
  if (!patch.is_array()) return fail(ErrorCode::BadRequest, "a JSON patch is a list of operations");
  if (patch.as_array().size() > kMaxOperations) {
    return fail(ErrorCode::TooLarge,
                fmt::format("a JSON patch may have {} operations", kMaxOperations));
  }
  for (const json::Value& operation : patch.as_array()) {
    const auto path = parse_pointer(operation["path"]);
    const auto from = parse_pointer(operation["from"]);
    if (!path)
      return fail(ErrorCode::BadRequest, "an operation of the JSON patch has no valid path");
    if (!apply(target, operation, *path, from)) {
      return fail(
          ErrorCode::Invalid,
          fmt::format("the server rejected our request due to an error in our request: {} of "
                      "\"{}\" cannot be applied",
                      operation["op"].as_string(), operation["path"].as_string()));
    }
    // Copies can double the object with each operation.
    if (operation["op"].as_string() == "copy" && json_size(target) > limits::kMaxObjectBytes) {
      return fail(ErrorCode::TooLarge, "the patched object is too large");
    }
  }
  return {};
}

}  // namespace muster::server
