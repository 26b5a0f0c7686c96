#include "cli/describe/describe_other.h"

#include <string_view>

#include <fmt/format.h>

#include "api/object.h"
#include "yaml/yaml.h"

namespace muster::cli {
namespace {

// Where kubectl keeps all of what it was given.
constexpr const char* kLastApplied = "kubectl.kubernetes.io/last-applied-configuration";

std::size_t decoded_size(std::string_view base64) {
  while (base64.ends_with('=')) base64.remove_suffix(1);
  return base64.size() * 3 / 4;
}

json::Value without_values(json::Value secret) {
  json::Object sizes;
  const json::Value& data = std::as_const(secret)["data"];
  for (const auto& [name, value] : data.as_object())
    sizes.set(name, fmt::format("{} bytes", decoded_size(value.as_string())));
  if (data.is_object()) secret["data"] = std::move(sizes);
  if (std::as_const(secret)["metadata"]["annotations"].is_object())
    secret["metadata"]["annotations"].object().erase(kLastApplied);
  return secret;
}

}  // namespace

std::string describe_other(const json::Value& object) {
  const bool secret = api::kind_of(object) == "Secret";
  return yaml::write(secret ? without_values(object) : object);
}

}  // namespace muster::cli
