#pragma once

#include "dialects/fields.h"
#include "json/value.h"

namespace muster::dialects::mindspore {

// Everything that can be said about an MSJob before it runs. Holds the two field tables; immutable.
class Validator {
 public:
  Validator();

  [[nodiscard]] Findings check(const json::Value& job) const;

 private:
  FieldTable job_table_;
  FieldTable pod_table_;
};

}  // namespace muster::dialects::mindspore
