#include "dialects/check/checked_dialect.h"

#include <fmt/format.h>

#include "api/object.h"
#include "dialects/check/messages.h"

namespace muster::dialects {
namespace {

// Names the job and the first few mistakes; all of them are in the causes.
Error invalid(std::string_view kind, const json::Value& job,
              const std::vector<Violation>& violations) {
  constexpr std::size_t kSpelledOut = 3;
  Error error{.code = ErrorCode::Invalid,
              .message = fmt::format("{} {} is invalid: ", kind, in_quotes(api::name_of(job)))};
  for (std::size_t i = 0; i < violations.size(); ++i) {
    error.causes.push_back(violations[i].cause());
    if (i >= kSpelledOut) continue;
    if (i > 0) error.message += "; ";
    error.message += violations[i].path + ": " + violations[i].message;
  }
  if (violations.size() > kSpelledOut) {
    error.message += fmt::format("; and {} more", violations.size() - kSpelledOut);
  }
  return error;
}

}  // namespace

std::vector<FieldCause> CheckedDialect::validate(const json::Value& job) const {
  std::vector<FieldCause> causes;
  for (const auto& violation : examine(job).violations) causes.push_back(violation.cause());
  return causes;
}

std::vector<plan::UnknownField> CheckedDialect::unknown_fields(const json::Value& job) const {
  return examine(job).unknown;
}

Result<plan::Plan> CheckedDialect::compile(const json::Value& job) const {
  const Findings findings = examine(job);
  if (!findings.violations.empty()) {
    return fail(invalid(identity().resource.kind, job, findings.violations));
  }
  plan::Plan plan = make_plan(job);
  for (const auto& field : findings.unknown) {
    plan.warnings.push_back({.reason = "UnknownField",
                             .message = fmt::format("{}: unknown field, ignored{}", field.path,
                                                    did_you_mean(field.meant))});
  }
  return plan;
}

}  // namespace muster::dialects
