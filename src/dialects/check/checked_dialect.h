#pragma once

#include <string>
#include <vector>

#include "dialects/check/findings.h"
#include "json/value.h"
#include "plan/dialect.h"

namespace muster::dialects {

// A dialect that refuses a job by the findings of its checks. Every kind is one.
class CheckedDialect : public plan::Dialect {
 public:
  // Everything that can be said about a job before it runs.
  [[nodiscard]] virtual Findings examine(const json::Value& job) const = 0;

  [[nodiscard]] std::vector<FieldCause> validate(const json::Value& job) const final;
  [[nodiscard]] std::vector<plan::UnknownField> unknown_fields(const json::Value& job) const final;
  [[nodiscard]] Result<plan::Plan> compile(const json::Value& job) const final;

 protected:
  // Of a job that was found to be valid.
  [[nodiscard]] virtual plan::Plan make_plan(const json::Value& job) const = 0;
};

}  // namespace muster::dialects
