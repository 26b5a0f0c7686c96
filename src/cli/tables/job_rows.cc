#include "cli/tables/job_rows.h"

#include <algorithm>

#include <fmt/format.h>

#include "api/object.h"
#include "base/strings.h"
#include "cli/jobs/job_view.h"
#include "cli/jobs/waiting.h"

namespace muster::cli {
namespace {

const Objects& pods_of(const json::Value& job, const Surroundings& around) {
  static const Objects none;
  const auto found = around.pods_of_job.find(api::uid_of(job));
  return found == around.pods_of_job.end() ? none : found->second;
}

std::string shown_kind(const api::Resource& resource, const Surroundings& around) {
  return around.shared_kinds.contains(resource.kind)
             ? fmt::format("{}.{}", resource.kind, resource.group)
             : resource.kind;
}

Cells job_row(const Item& item, const Surroundings& around, Width width) {
  const json::Value& job = *item.object;
  const plan::Dialect& dialect = *item.of->dialect;
  JobView view = JobView::from(job, dialect);
  if (around.pods_known) view.see(pods_of(job, around));
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

// "Unschedulable (4 pods): No node has room. To go on: others have to end."
std::string sentence_of(const Waiting& why) {
  std::string text = fmt::format("{} ({} pod{})", why.reason, why.pods, why.pods == 1 ? "" : "s");
  if (!why.message.empty()) text += ": " + printable(why.message);
  if (why.remedy.empty()) return text;
  return fmt::format("{}{} To go on: {}.", text, text.ends_with('.') ? "" : ".", why.remedy);
}

}  // namespace

void note_waiting(Context& context, const std::vector<Item>& items, const Surroundings& around) {
  constexpr int kMostTold = 5;
  int waiting = 0;
  for (const Item& item : items) {
    if (item.of->dialect == nullptr) continue;
    const auto why = why_waiting(*item.object, pods_of(*item.object, around));
    if (!why || ++waiting > kMostTold) continue;
    context.output.note("{} waits{}: {}\n", api::name_of(*item.object),
                        why->since ? " for " + format_age(around.now - *why->since) : "",
                        sentence_of(*why));
  }
  if (waiting > kMostTold) {
    context.output.note("{} more wait; see: {}\n", waiting - kMostTold,
                        context.command("describe jobs"));
  }
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
