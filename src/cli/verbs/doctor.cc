#include "cli/doctor/cluster_checks.h"
#include "cli/doctor/machine_checks.h"
#include "cli/print_error.h"
#include "cli/verbs/verbs.h"
#include "json/write.h"

namespace muster::cli {
namespace {

Task<Result<std::vector<Finding>>> look(Context& context) {
  if (context.wants_cluster()) co_return check_cluster(CO_TRY(co_await look_at_cluster(context)));
  co_return check_machine(CO_TRY(co_await context.pool.run(
      context.loop,
      [home = context.home, path = context.env("PATH")] { return look_at_machine(home, path); })));
}

}  // namespace

Task<int> doctor(Context& context, DoctorOptions options) {
  const auto findings = co_await look(context);
  if (!findings) {
    print_error(context.output, findings.error());
    co_return exit_code::kFailed;
  }
  context.output.write(options.output == "json"
                           ? json::write_pretty(findings_json(*findings)) + "\n"
                           : findings_text(*findings));
  co_return has_error(*findings) ? exit_code::kFailed : exit_code::kOk;
}

}  // namespace muster::cli
