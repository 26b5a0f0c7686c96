// Any JSON document is refused or compiled, as a job of any kind; a status is written either way;
// nothing crashes. The first byte picks the kind.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "dialects/registry.h"
#include "json/read.h"
#include "json/write.h"

using namespace muster;

namespace {

plan::Plan plan_of(const plan::Dialect& dialect, const json::Value& job) {
  auto plan = dialect.compile(job);
  CHECK(plan.has_value() == dialect.validate(job).empty());
  if (plan) return *plan;
  plan::Plan none;
  none.job = plan::job_ref(dialect.identity().resource, job);
  return none;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const auto registry = dialects::make_registry();
  if (size == 0) return 0;
  const auto& dialect = *registry.all()[data[0] % registry.all().size()];
  const auto job = json::read({reinterpret_cast<const char*>(data) + 1, size - 1});
  if (!job) return 0;
  const Time now{};
  const plan::Plan plan = plan_of(dialect, *job);
  plan::Verdict verdict;
  verdict.ledger = plan::Ledger::from_json((*job)["status"]["muster"]);
  verdict.phase = plan.roles.empty() ? plan::Phase::Failed : verdict.ledger.phase;
  const auto status = dialect.status(plan, (*job)["status"], verdict, now);
  CHECK(json::read(json::write(status)).has_value());
  CHECK(!is_terminal(verdict.phase) || is_terminal(dialect.phase_of(status).phase));
  // Written twice, the status is the same: no endless loop of writes.
  CHECK(dialect.status(plan, status, verdict, now + std::chrono::hours(1)) == status);
  (void)dialect.manages(*job);
  json::Value defaulted = *job;
  dialect.set_defaults(defaulted);
  json::Value again = defaulted;
  dialect.set_defaults(again);
  CHECK(again == defaulted);
  (void)dialect.validate_update(*job, defaulted);
  return 0;
}
