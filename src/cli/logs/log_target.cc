#include "cli/logs/log_target.h"

#include <algorithm>
#include <filesystem>
#include <map>

#include <fmt/format.h>

#include "api/pod.h"
#include "base/strings.h"
#include "cli/jobs/listing.h"
#include "node/runtime/log_places.h"
#include "plan/plan.h"

namespace muster::cli {
namespace {

namespace fs = std::filesystem;

using RankKey = std::pair<std::string, std::string>;  // role and index, or the pod's own name

RankKey rank_of(const std::string& role, int index, const std::string& pod) {
  return role.empty() ? RankKey("", pod) : RankKey(role, std::to_string(index));
}

int index_of(const json::Value& pod) {
  return static_cast<int>(parse_int(api::label_of(pod, plan::labels::kIndex)).value_or(0));
}

// The last run of a container that left a log.
std::optional<int> last_attempt(const fs::path& container) {
  std::optional<int> last;
  std::error_code error;
  for (const auto& file : fs::directory_iterator(container, error)) {
    if (file.path().extension() != ".log") continue;
    const auto attempt = parse_int(file.path().stem().string());
    if (attempt) last = std::max(last.value_or(0), static_cast<int>(*attempt));
  }
  return last;
}

void append(std::vector<KeptContainer>& all, std::vector<KeptContainer> more) {
  std::ranges::move(more, std::back_inserter(all));
}

bool is_meant(const RunRecord& run, const std::string& ns, const LogName& name) {
  if (run.ns != ns || run.name != name.job.name || !run.uid.starts_with(name.run)) return false;
  if (run.resource == api::pods().qualified()) return name.maybe_pod;
  return std::ranges::any_of(name.job.kinds, [&](const NamedResource& kind) {
    return kind.resource.qualified() == run.resource;
  });
}

Result<std::optional<RunRecord>> find_record(const Context& context, const std::string& ns,
                                             const LogName& name, const std::string& uid) {
  if (!uid.empty() && name.run.empty()) {
    auto record = read_record(context.home, uid);
    return record ? std::optional(std::move(*record)) : std::nullopt;
  }
  std::vector<RunRecord> meant;
  for (RunRecord& run : read_history(context.home)) {
    if (is_meant(run, ns, name)) meant.push_back(std::move(run));
  }
  if (meant.size() > 1 && !name.run.empty()) {
    std::vector<std::string> ids;
    for (const RunRecord& run : meant) ids.push_back(run.id());
    return fail(ErrorCode::BadRequest,
                fmt::format("{}@{} could be {}; give more of it", printable(name.job.name),
                            printable(name.run), join(ids, " or ")));
  }
  return meant.empty() ? std::nullopt : std::optional(std::move(meant.front()));
}

Task<Result<void>> find_existing(Context& context, OpenCluster& target, LogName name,
                                 LogTarget& out) {
  cluster::Cluster& cluster = target.cluster();
  if (!name.job.kinds.empty()) {
    const auto job = co_await find_job(context, cluster, target.ns(), name.job);
    if (job) {
      out.followed = Followed::job(*job->job, *job->dialect);
      out.cause = JobView::from(*job->job, *job->dialect).ledger.cause;
      co_return Result<void>{};
    }
    if (job.error().code != ErrorCode::NotFound) co_return fail(job.error());
  }
  if (!name.maybe_pod) co_return Result<void>{};
  const auto pod = co_await cluster.get(api::pods(), out.key);
  if (pod) out.followed = Followed::pod(**pod);
  if (!pod && pod.error().code != ErrorCode::NotFound) co_return fail(pod.error());
  co_return Result<void>{};
}

Error not_found(const Context& context, const LogTarget& target, const LogName& name, bool local) {
  const std::string what =
      name.run.empty() ? fmt::format("no job or pod \"{}\" in namespace {}",
                                     printable(target.key.name), target.key.ns)
                       : fmt::format("no run {}@{} in namespace {}", printable(target.key.name),
                                     printable(name.run), target.key.ns);
  return {.code = ErrorCode::NotFound,
          .message =
              fmt::format("{}; see: {}", what, context.command(local ? "history" : "get jobs -A"))};
}

}  // namespace

Result<LogName> parse_log_name(const plan::Registry& registry, const std::string& text) {
  const auto mark = text.find('@');
  LogName name{.run = mark == std::string::npos ? "" : text.substr(mark + 1)};
  const std::string what = text.substr(0, mark);
  if (mark != std::string::npos && name.run.empty())
    return fail(ErrorCode::BadRequest, fmt::format("{}: what follows @ is the id of a run, as "
                                                   "muster history shows it",
                                                   printable(text)));
  const auto slash = what.find('/');
  if (slash != std::string::npos) {
    const auto kinds = TRY(resources_named(registry, what.substr(0, slash)));
    name.maybe_pod = kinds.front().resource == api::pods();
    if (name.maybe_pod) {
      name.job.name = what.substr(slash + 1);
      return name;
    }
  }
  name.job = TRY(parse_job_name(registry, what));
  return name;
}

std::vector<KeptContainer> kept_containers(const std::string& home, const RunRecord& run,
                                           const RecordedPod& pod) {
  std::vector<KeptContainer> out;
  const std::string directory = node::log_directory(home, run.ns, pod.name, pod.uid);
  std::error_code error;
  for (const auto& container : fs::directory_iterator(directory, error)) {
    const auto attempt = last_attempt(container.path());
    if (!attempt) continue;
    out.push_back({.origin = {.pod = pod.name,
                              .container = container.path().filename(),
                              .role = pod.role,
                              .index = pod.index,
                              .alone = pod.containers.size() < 2},
                   .pod_uid = pod.uid,
                   .directory = directory,
                   .attempt = *attempt});
  }
  return out;
}

std::vector<KeptContainer> LogTarget::kept(const std::string& home) const {
  std::vector<KeptContainer> out;
  if (!record) return out;
  std::map<RankKey, const RecordedPod*> last;
  for (const RecordedPod& pod : record->pods) last[rank_of(pod.role, pod.index, pod.name)] = &pod;
  for (const auto& pod : pods)
    last.erase(
        rank_of(api::label_of(*pod, plan::labels::kRole), index_of(*pod), api::name_of(*pod)));
  for (const auto& [rank, pod] : last) append(out, kept_containers(home, *record, *pod));
  return out;
}

std::vector<KeptContainer> LogTarget::kept_before(const std::string& home) const {
  std::vector<KeptContainer> out;
  if (!record) return out;
  std::map<RankKey, std::vector<const RecordedPod*>> all;
  for (const RecordedPod& pod : record->pods)
    all[rank_of(pod.role, pod.index, pod.name)].push_back(&pod);
  for (const auto& [rank, ones] : all) {
    if (ones.size() > 1) append(out, kept_containers(home, *record, *ones[ones.size() - 2]));
  }
  return out;
}

std::set<std::string> LogTarget::failed_pods() const {
  std::set<std::string> names;
  if (cause && !cause->pod.empty()) names.insert(cause->pod);
  for (const auto& pod : pods) {
    if (api::phase_of(*pod) == api::PodPhase::Failed && !api::is_deleting(*pod))
      names.insert(api::name_of(*pod));
  }
  if (record) {
    for (const RecordedPod& pod : record->pods) {
      if (pod.failed) names.insert(pod.name);
    }
  }
  return names;
}

std::string LogTarget::ranks() const {
  std::set<std::pair<std::string, int>> all;
  if (record) {
    for (const RecordedPod& pod : record->pods) all.emplace(pod.role, pod.index);
  }
  for (const auto& pod : pods)
    all.emplace(api::label_of(*pod, plan::labels::kRole), index_of(*pod));
  std::vector<std::string> names;
  for (const auto& [role, index] : all) {
    if (names.size() == 8) {
      names.push_back(fmt::format("{} more", all.size() - 8));
      break;
    }
    names.push_back(role.empty() ? std::to_string(index) : fmt::format("{} {}", role, index));
  }
  return join(names, ", ");
}

Task<Result<LogTarget>> find_log_target(Context& context, OpenCluster& target, LogName name) {
  LogTarget out{.key = {.ns = target.ns(), .name = name.job.name}};
  CO_TRY(co_await find_existing(context, target, name, out));
  const std::string uid = out.followed ? out.followed->uid : "";
  if (target.is_local()) out.record = CO_TRY(find_record(context, target.ns(), name, uid));
  if (out.record && out.record->uid != uid) {  // an older one, or one that was deleted
    out.followed.reset();
    out.cause.reset();
  }
  if (!name.run.empty() && out.followed && !uid.starts_with(name.run)) out.followed.reset();
  if (!out.followed && !out.record)
    co_return fail(not_found(context, out, name, target.is_local()));
  out.id = (out.followed ? out.followed->uid : out.record->uid).substr(0, 8);
  if (out.followed) {
    out.pods = CO_TRY(co_await list_all(target.cluster(), api::pods(), out.followed->pods));
  }
  co_return out;
}

}  // namespace muster::cli
