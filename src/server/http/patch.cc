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

// What a reader would refuse is not made in passing either: at such depths to look at it, and to
// let go of it, takes more stack than there is.
Result<void> check_depth(const json::Value& value, const Pointer& place) {
  if (!is_deeper_than(value, limits::kMaxDepth - static_cast<int>(place.size()))) return {};
  return fail(ErrorCode::BadRequest,
              fmt::format("the patched object is nested deeper than {} levels", limits::kMaxDepth));
}

// Operations one after the other on the same object.
class Patch {
 public:
  explicit Patch(json::Value& target) : target_(target) {}

  // False: it cannot be applied.
  Result<bool> apply(const json::Value& operation, const Pointer& path,
                     const std::optional<Pointer>& from) {
    const std::string& name = operation["op"].as_string();
    const json::Value& value = operation["value"];
    if (name == "remove") return remove(target_, path);
    if (name == "move" || name == "copy")
      return from ? take(*from, path, name == "move") : Result<bool>(false);
    json::Value* there = walk(target_, path, path.size());
    if (name == "test") return there != nullptr && *there == value;
    TRY(check_depth(value, path));
    if (name == "add") return add(target_, path, value);
    if (name != "replace" || there == nullptr) return false;
    *there = value;
    return true;
  }

 private:
  Result<bool> take(const Pointer& from, const Pointer& path, bool move) {
    const json::Value* source = walk(target_, from, from.size());
    if (source == nullptr || is_prefix(from, path)) return false;
    json::Value value = *source;
    TRY(check_depth(value, path));
    if (move) return remove(target_, from) && add(target_, path, std::move(value));
    // Each can double the object.
    copied_ += json_size(value);
    if (copied_ > limits::kMaxObjectBytes)
      return fail(ErrorCode::TooLarge, "the patched object is too large");
    return add(target_, path, std::move(value));
  }

  json::Value& target_;
  std::size_t copied_ = 0;  // by all operations
};

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
  Patch patched(target);
  for (const json::Value& operation : patch.as_array()) {
    const auto path = parse_pointer(operation["path"]);
    const auto from = parse_pointer(operation["from"]);
    if (!path)
      return fail(ErrorCode::BadRequest, "an operation of the JSON patch has no valid path");
    if (!TRY(patched.apply(operation, *path, from))) {
      return fail(
          ErrorCode::Invalid,
          fmt::format("the server rejected our request due to an error in our request: {} of "
                      "\"{}\" cannot be applied",
                      operation["op"].as_string(), operation["path"].as_string()));
    }
  }
  return {};
}

}  // namespace muster::server
