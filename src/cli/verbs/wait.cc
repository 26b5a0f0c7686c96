#include <fmt/format.h>

#include "base/strings.h"
#include "cli/cluster/open_cluster.h"
#include "cli/jobs/find_job.h"
#include "cli/jobs/job_follower.h"
#include "cli/jobs/job_view.h"
#include "cli/print_error.h"
#include "cli/verbs/verbs.h"

namespace muster::cli {
namespace {

bool satisfied(const cluster::ObjectPtr& job, const plan::Dialect& dialect,
               const std::string& condition) {
  const JobView view = JobView::from(*job, dialect);
  if (condition == "finished") return view.finished();
  if (condition == "running") return view.phase == plan::Phase::Running || view.finished();
  const std::string wanted = condition.substr(condition.find('=') + 1);
  for (const json::Value& one : (*job)["status"]["conditions"].as_array()) {
    if (equal_ignoring_case(one["type"].as_string(), wanted) && one["status"].as_string() == "True")
      return true;
  }
  return false;
}

// What keeps a job from getting anywhere, as the end of a sentence.
std::string why_not(const JobFollower& follower, const plan::Dialect& dialect) {
  const bool suspended =
      follower.job() && JobView::from(*follower.job(), dialect).phase == plan::Phase::Suspended;
  return suspended ? "; it is suspended" : "";
}

Task<Result<int>> wait_in(Context& context, OpenCluster& target, JobName where,
                          WaitOptions options) {
  const bool known = options.condition == "finished" || options.condition == "running" ||
                     options.condition == "delete" || options.condition.starts_with("condition=");
  if (!known) {
    co_return fail(
        ErrorCode::BadRequest,
        fmt::format("--for={} is unknown; use finished, running, delete or condition=TYPE",
                    options.condition));
  }
  const FoundJob found = CO_TRY(co_await find_job(context, target.cluster(), target.ns(), where));
  JobFollower follower(context, target.cluster(), Followed::job(*found.job, *found.dialect));
  follower.start();
  bool late = false;
  rt::Timer limit(context.loop);
  if (options.timeout_seconds) {
    limit.start(std::chrono::duration_cast<Duration>(
                    std::chrono::duration<double>(*options.timeout_seconds)),
                [&] {
                  late = true;
                  follower.changed().pulse();
                });
  }
  int code = exit_code::kOk;
  while (true) {
    if (follower.gone()) {
      if (options.condition != "delete") {
        print_error(context.output, {.code = ErrorCode::NotFound,
                                     .message = fmt::format("{} was deleted", where.name)});
        code = exit_code::kFailed;
      }
      break;
    }
    if (follower.job() && options.condition != "delete" &&
        satisfied(follower.job(), *found.dialect, options.condition)) {
      const JobView view = JobView::from(*follower.job(), *found.dialect);
      context.output.print("{}/{} {}\n", found.dialect->identity().resource.qualified(), where.name,
                           to_lower(view.state()));
      if (options.condition == "finished") code = exit_code_for(view);
      break;
    }
    if (late) {
      print_error(context.output,
                  {.code = ErrorCode::Timeout,
                   .message = fmt::format("timed out waiting for {} to be {}{}", where.name,
                                          options.condition, why_not(follower, *found.dialect))});
      code = exit_code::kTimeout;
      break;
    }
    if (!co_await follower.changed().wait()) break;
  }
  co_await follower.close();
  co_return code;
}

}  // namespace

Task<int> wait(Context& context, WaitOptions options) {
  auto where = parse_job_name(context.registry, options.name);
  if (!where) co_return refuse_resource(context.output, where.error());
  co_return co_await with_cluster(
      context, PlaneParts::All,
      [&context, where = std::move(*where), options = std::move(options)](OpenCluster& target) {
        return wait_in(context, target, where, options);
      });
}

}  // namespace muster::cli
