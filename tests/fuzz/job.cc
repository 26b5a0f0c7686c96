// Any JSON document is refused or compiled; a status is written either way; nothing crashes.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "dialects/mindspore.h"
#include "json/read.h"
#include "json/write.h"

using namespace muster;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const auto dialect = dialects::make_mindspore();
  const auto job = json::read({reinterpret_cast<const char*>(data), size});
  if (!job) return 0;
  const Time now{};
  const auto plan = dialect->compile(*job);
  CHECK(plan.has_value() == dialect->validate(*job).empty());
  if (!plan) {
    const auto status = dialect->invalid_status(*job, plan.error(), now);
    CHECK(json::read(json::write(status)).has_value());
    return 0;
  }
  plan::Verdict verdict;
  verdict.ledger = plan::Ledger::from_json((*job)["status"]["muster"]);
  verdict.phase = verdict.ledger.phase;
  const auto status = dialect->status(*plan, (*job)["status"], verdict, now);
  CHECK(status["conditions"].is_array() && status["replicaStatuses"].is_object());
  // Written twice, the status is the same: no endless loop of writes.
  CHECK(dialect->status(*plan, status, verdict, now + std::chrono::hours(1)) == status);
  return 0;
}
