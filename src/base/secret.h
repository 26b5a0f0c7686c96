#pragma once

#include <string>
#include <utility>

namespace muster {

// A value that must not be printed: it can be neither streamed nor formatted, only revealed by
// name.
class Secret {
 public:
  Secret() = default;
  explicit Secret(std::string value) : value_(std::move(value)) {}

  [[nodiscard]] const std::string& reveal() const { return value_; }
  [[nodiscard]] bool empty() const { return value_.empty(); }

 private:
  std::string value_;
};

}  // namespace muster
