#pragma once

#include <map>
#include <string>
#include <string_view>

namespace muster::agent {

// The variables that a container was started with.
class Environment {
 public:
  Environment() = default;
  explicit Environment(std::map<std::string, std::string, std::less<>> variables)
      : variables_(std::move(variables)) {}

  static Environment of_this_process();

  // Empty when it is not set: a manifest that sets nothing and one that sets "" mean the same.
  [[nodiscard]] std::string get(std::string_view name) const;

 private:
  std::map<std::string, std::string, std::less<>> variables_;
};

}  // namespace muster::agent
