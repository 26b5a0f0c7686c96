#include "dialects/mindspore.h"

#include <fmt/format.h>

#include "api/object.h"
#include "dialects/mindspore_fields.h"
#include "dialects/mindspore_plan.h"
#include "dialects/mindspore_spec.h"
#include "dialects/mindspore_status.h"
#include "dialects/mindspore_validate.h"
#include "dialects/mindspore_words.h"

namespace muster::dialects {
namespace {

// Names the job and the first few mistakes; all of them are in the causes.
Error invalid(const json::Value& job, const std::vector<Violation>& violations) {
  constexpr std::size_t kSpelledOut = 3;
  Error error{.code = ErrorCode::Invalid,
              .message = fmt::format("MSJob {} is invalid: ", in_quotes(api::name_of(job)))};
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

class MindSpore final : public plan::Dialect {
 public:
  [[nodiscard]] const plan::Identity& identity() const override { return mindspore::identity(); }

  [[nodiscard]] std::vector<FieldCause> validate(const json::Value& job) const override {
    std::vector<FieldCause> causes;
    for (const auto& violation : validator_.check(job).violations) {
      causes.push_back(violation.cause());
    }
    return causes;
  }

  [[nodiscard]] Result<plan::Plan> compile(const json::Value& job) const override {
    const Findings findings = validator_.check(job);
    if (!findings.violations.empty()) return fail(invalid(job, findings.violations));
    return mindspore::make_plan(job, mindspore::decode(job), findings.unknown);
  }

  [[nodiscard]] json::Value status(const plan::Plan& plan, const json::Value& status,
                                   const plan::Verdict& verdict, Time now) const override {
    return mindspore::make_status(plan, status, verdict, now);
  }

  [[nodiscard]] json::Value invalid_status(const json::Value& job, const Error& error,
                                           Time now) const override {
    return mindspore::make_invalid_status(job, error, now);
  }

  [[nodiscard]] std::optional<plan::EventText> word(const plan::JobRef& job,
                                                    const plan::Note& note) const override {
    return mindspore::event_words(job, note);
  }

 private:
  mindspore::Validator validator_;
};

}  // namespace

std::unique_ptr<const plan::Dialect> make_mindspore() {
  return std::make_unique<MindSpore>();
}

}  // namespace muster::dialects
