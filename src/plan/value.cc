#include "plan/value.h"

#include "base/check.h"

namespace muster::plan {
namespace {

struct Resolver {
  int index;
  const Addresses& addresses;

  std::optional<std::string> operator()(const std::string& text) const { return text; }
  std::optional<std::string> operator()(const Ordinal& ordinal) const {
    return std::to_string(ordinal.base + index);
  }
  std::optional<std::string> operator()(const ServiceIp& service) const {
    return addresses.of(service);
  }
  std::optional<std::string> operator()(const PodIp& pod) const {
    auto address = addresses.of(pod);
    const bool v6 = address && address->find(':') != std::string::npos;
    if (v6 && pod.brackets) address = "[" + *address + "]";
    return address;
  }
};

}  // namespace

std::optional<std::string> resolve(const Value& value, int index, const Addresses& addresses) {
  std::string text;
  for (const Part& part : value) {
    const auto resolved = std::visit(Resolver{index, addresses}, part);
    if (!resolved) return std::nullopt;
    text += *resolved;
  }
  return text;
}

void place(json::Value& body, const JsonPath& path, std::string text) {
  json::Value* value = &body;
  for (const auto& step : path) {
    if (const auto* member = std::get_if<std::string>(&step)) {
      value = &(*value)[*member];
    } else {
      json::Array& array = value->array();
      CHECK(std::get<std::size_t>(step) < array.size());
      value = &array[std::get<std::size_t>(step)];
    }
  }
  *value = std::move(text);
}

}  // namespace muster::plan
