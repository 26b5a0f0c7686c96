#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "json/value.h"

namespace muster::server {

// Collects what is wrong with an object, worded as the real API server words it.
class Causes {
 public:
  void required(std::string field, std::string_view why = {});
  void invalid(std::string field, const json::Value& value, std::string_view why);
  void unsupported(std::string field, const json::Value& value,
                   const std::vector<std::string>& supported);
  void duplicate(std::string field, const json::Value& value);
  void not_found(std::string field, const json::Value& value);
  void forbidden(std::string field, std::string_view why);
  void add(FieldCause cause) { list_.push_back(std::move(cause)); }

  [[nodiscard]] bool empty() const { return list_.empty(); }
  // `Pod "x" is invalid: …` with every cause; success when there is none.
  [[nodiscard]] Result<void> verdict(std::string_view kind, std::string_view name) const;

 private:
  std::vector<FieldCause> list_;
};

}  // namespace muster::server
