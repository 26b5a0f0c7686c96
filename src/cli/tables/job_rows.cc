#include "cli/tables/job_rows.h"

#include <algorithm>

#include <fmt/format.h>

#include "api/object.h"
#include "api/pod.h"

namespace muster::cli {
namespace {

const Objects& pods_of(const json::Value& job, const Surroundings& around) {
  static const Objects none;
  const auto found = around.pods_of_job.find(api::uid_of(job));
  return found == around.pods_of_job.end() ? none : found->second;
}

bool is_up(const cluster::ObjectPtr& pod) {
  if (api::is_deleting(*pod)) return false;
  const auto phase = api::phase_of(*pod);
  return phase == api::PodPhase::Running || phase == api::PodPhase::Succeeded;
}

std::string shown_kind(const api::Resource& resource, const Surroundings& around) {
  return around.shared_kinds.contains(resource.kind)
             ? fmt::format("{}.{}", resource.kind, resource.group)
             : resource.kind;
}

Cells job_row(const Item& item, const Surroundings& around, Width width) {
  const json::Value& job = *item.object;
  const plan::Dialect& dialect = *item.of->dialect;
  const JobView view = around.pods_known ? view_with_pods(job, dialect, pods_of(job, around))
                                         : JobView::from(job, dialect);
  Cells row = {api::name_of(job),
               shown_kind(item.of->resource, around),
               std::string(view.state()),
               fmt::format("{}/{}", view.ranks_ready, view.ranks),
               std::to_string(view.restarts),
               age_of(job, around.now)};
  if (width == Width::Wide) {
    row.push_back(view.finished() && view.ledger.cause
                      ? std::string(to_string(view.ledger.cause->kind))
                      : view.reason);
  }
  return row;
}

}  // namespace

JobView view_with_pods(const json::Value& job, const plan::Dialect& dialect, const Objects& pods) {
  JobView view = JobView::from(job, dialect);
  if (view.finished()) return view;
  view.ranks_ready = static_cast<int>(std::ranges::count_if(pods, is_up));
  return view;
}

Layout job_layout(Width width) {
  Layout layout{.header = {"NAME", "KIND", "STATE", "RANKS", "RESTARTS", "AGE"},
                .row = [width](const Item& item,
                               const Surroundings& around) { return job_row(item, around, width); },
                .state = 2,
                .age = 5};
  if (width == Width::Wide) layout.header.emplace_back("REASON");
  return layout;
}

}  // namespace muster::cli
