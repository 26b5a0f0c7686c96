#include "cli/describe/describe_job.h"

#include <algorithm>
#include <tuple>

#include <fmt/format.h>

#include "api/object.h"
#include "api/pod.h"
#include "base/strings.h"
#include "cli/describe/description.h"
#include "cli/jobs/waiting.h"
#include "cli/run/failure.h"
#include "cli/tables/pod_rows.h"
#include "plan/plan.h"

namespace muster::cli {
namespace {

constexpr std::size_t kLabelWidth = 12;

std::string when(const std::optional<Time>& time) {
  return time ? format_time(*time) : "-";
}

std::vector<std::vector<std::string>> condition_rows(const json::Value& job) {
  std::vector<std::vector<std::string>> rows = {{"TYPE", "STATUS", "REASON", "SINCE"}};
  for (const json::Value& condition : job["status"]["conditions"].as_array()) {
    rows.push_back({condition["type"].as_string(), condition["status"].as_string(),
                    condition["reason"].as_string(), condition["lastTransitionTime"].as_string()});
  }
  return rows;
}

std::int64_t index_of(const json::Value& pod) {
  return parse_int(api::label_of(pod, plan::labels::kIndex)).value_or(0);
}

std::vector<std::vector<std::string>> pod_rows(Objects pods) {
  std::ranges::sort(pods, {}, [](const auto& pod) {
    return std::tuple(api::label_of(*pod, plan::labels::kRole), index_of(*pod), api::name_of(*pod));
  });
  std::vector<std::vector<std::string>> rows = {
      {"NAME", "ROLE", "RANK", "STATUS", "RESTARTS", "IP", "NODE"}};
  for (const auto& pod : pods) {
    rows.push_back({api::name_of(*pod), api::label_of(*pod, plan::labels::kRole),
                    api::label_of(*pod, plan::labels::kIndex), pod_state(*pod),
                    std::to_string(api::restarts_of(*pod)), api::pod_ip_of(*pod),
                    api::node_name_of(*pod)});
  }
  return rows;
}

std::vector<std::string> lines_of(const Waiting& why) {
  std::vector<std::string> lines = {
      fmt::format("{}, {} of its pods{}", why.reason, why.pods,
                  why.since ? ", since " + format_time(*why.since) : "")};
  for (const std::string& line : {why.message, why.remedy}) {
    if (!line.empty()) lines.push_back(line);
  }
  return lines;
}

// Why it does not get on, since when, and what would help.
void describe_waiting(Description& text, const json::Value& job, const Objects& pods) {
  if (const auto why = why_waiting(pods)) {
    text.lines(0, "Waiting", lines_of(*why));
    return;
  }
  text.line_if(0, "Waiting", job["status"][plan::kStatusKey]["waitingFor"].as_string());
}

}  // namespace

std::string describe_job(const Context& context, const json::Value& job,
                         const plan::Dialect& dialect, const Objects& pods) {
  JobView view = JobView::from(job, dialect);
  view.see(pods);
  const api::Resource& resource = dialect.identity().resource;
  Description text(kLabelWidth);
  text.line(0, "Name", api::name_of(job));
  text.line(0, "Namespace", api::namespace_of(job));
  text.line(0, "Kind", fmt::format("{} {}", resource.kind, resource.api_version()));
  text.line(0, "State", view.state());
  text.line(0, "Ranks", fmt::format("{}/{}", view.ranks_ready, view.ranks));
  text.line(0, "Restarts", std::to_string(view.restarts));
  text.line(0, "Created", job["metadata"]["creationTimestamp"].as_string());
  text.line(0, "Started", when(view.ledger.start_time));
  text.line(0, "Completed", when(view.ledger.completion_time));
  text.line_if(0, "Message", view.message);
  for (const Waiting& node : blocked_on_nodes(job)) text.lines(0, "Blocked", lines_of(node));
  if (!view.finished()) describe_waiting(text, job, pods);
  std::string out = text.text() + root_cause(context, view, api::name_of(job));
  Description tables(kLabelWidth);
  tables.table("Conditions", condition_rows(job));
  tables.table("Pods", pod_rows(pods));
  return out + tables.text();
}

}  // namespace muster::cli
