#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "json/value.h"

// Texts that are put together when their parts are known: ranks in variables, index labels,
// addresses.
namespace muster::plan {

// Where a value goes inside an object: member names and array indexes.
using JsonPath = std::vector<std::variant<std::string, std::size_t>>;

// The index of the rank that the object is made for, counted from `base`.
struct Ordinal {
  int base = 0;

  friend bool operator==(const Ordinal&, const Ordinal&) = default;
};
// The cluster address of a Service of the job.
struct ServiceIp {
  std::string service;

  friend bool operator==(const ServiceIp&, const ServiceIp&) = default;
};
// The address of the pod that holds a rank now.
struct PodIp {
  std::string role;
  int index = 0;
  bool brackets = false;  // around one of IPv6, as it stands before a port

  friend bool operator==(const PodIp&, const PodIp&) = default;
};

using Part = std::variant<std::string, Ordinal, ServiceIp, PodIp>;
using Value = std::vector<Part>;

struct Placed {
  JsonPath path;
  Value value;
};

// What the parts need to know of the world; nothing while it is not there yet.
class Addresses {
 public:
  virtual ~Addresses() = default;
  [[nodiscard]] virtual std::optional<std::string> of(const ServiceIp& service) const = 0;
  [[nodiscard]] virtual std::optional<std::string> of(const PodIp& pod) const = 0;
};

// The text for the rank of that index; nothing while a part is unknown.
std::optional<std::string> resolve(const Value& value, int index, const Addresses& addresses);

// Writes the text to its place. The dialect made the path from the same body, so its steps exist;
// only the last member may be new.
void place(json::Value& body, const JsonPath& path, std::string text);

}  // namespace muster::plan
