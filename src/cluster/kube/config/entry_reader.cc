#include "cluster/kube/config/entry_reader.h"

#include <fmt/format.h>

#include "base/strings.h"

namespace muster::cluster::kube {

using json::Value;

namespace {

std::string without_space(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c != '\n' && c != '\r' && c != ' ' && c != '\t') out += c;
  }
  return out;
}

}  // namespace

std::string quoted(std::string_view text) {
  return fmt::format("\"{}\"", printable(text.substr(0, 128)));
}

std::unexpected<Error> EntryReader::invalid(std::string_view message) const {
  return fail(ErrorCode::Invalid, fmt::format("{}: {}", where_, message));
}

bool EntryReader::has(std::string_view field) const {
  const Value& value = value_[field];
  return !(value.is_null() || (value.is_string() && value.as_string().empty()) ||
           (value.is_array() && value.as_array().empty()));
}

Result<std::string> EntryReader::text(std::string_view field) const {
  const Value& value = value_[field];
  if (value.is_null()) return std::string();
  if (!value.is_string())
    return invalid(fmt::format("{} is {}, it must be a string", field, value.type_name()));
  return value.as_string();
}

Result<bool> EntryReader::flag(std::string_view field) const {
  const Value& value = value_[field];
  if (value.is_null()) return false;
  if (!value.is_bool())
    return invalid(fmt::format("{} is {}, it must be true or false", field, value.type_name()));
  return value.as_bool();
}

Result<std::vector<std::string>> EntryReader::texts(std::string_view field) const {
  std::vector<std::string> out;
  const Value* items = TRY(list(field));
  if (items == nullptr) return out;
  for (std::size_t i = 0; i < items->as_array().size(); ++i) {
    const Value& item = (*items)[i];
    if (!item.is_string()) {
      return invalid(fmt::format("{}[{}] is {}, it must be a string", field, i, item.type_name()));
    }
    out.push_back(item.as_string());
  }
  return out;
}

Result<std::string> EntryReader::path(std::string_view field) const {
  return beside_file(TRY(text(field)));
}

std::string EntryReader::beside_file(const std::string& path) const {
  if (path.empty() || path.starts_with('/')) return path;
  const auto slash = file_.rfind('/');
  return slash == std::string::npos ? path : file_.substr(0, slash + 1) + path;
}

Result<std::string> EntryReader::file_behind(std::string_view field) const {
  if (has(fmt::format("{}-data", field))) return std::string();
  return path(field);
}

Result<std::string> EntryReader::data_or_file(std::string_view field) const {
  const std::string data_field = fmt::format("{}-data", field);
  if (const std::string encoded = TRY(text(data_field)); !encoded.empty()) {
    auto bytes = base64_decode(without_space(encoded));
    if (!bytes) return invalid(fmt::format("{} is not base64", data_field));
    return std::move(*bytes);
  }
  const std::string file = TRY(path(field));
  if (file.empty()) return std::string();
  auto bytes = files_.read(file);
  if (!bytes) return fail(bytes.error().in(fmt::format("{}: {}", where_, field)));
  return std::move(*bytes);
}

Result<void> EntryReader::check_pem(std::string_view field, std::string_view pem) const {
  if (pem.empty() || pem.contains("-----BEGIN ")) return {};
  return invalid(fmt::format("{} is not PEM (a text with -----BEGIN …-----)", field));
}

Result<const Value*> EntryReader::mapping(std::string_view field) const {
  const Value& value = value_[field];
  if (value.is_null()) return nullptr;
  if (!value.is_object())
    return invalid(fmt::format("{} is {}, it must be a mapping", field, value.type_name()));
  return &value;
}

Result<const Value*> EntryReader::list(std::string_view field) const {
  const Value& value = value_[field];
  if (value.is_null()) return nullptr;
  if (!value.is_array())
    return invalid(fmt::format("{} is {}, it must be a list", field, value.type_name()));
  return &value;
}

EntryReader EntryReader::inside(const Value& value, std::string_view name) const {
  return {value, file_, fmt::format("{}: {}", where_, name), files_};
}

}  // namespace muster::cluster::kube
