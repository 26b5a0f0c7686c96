#include "cli/logs/log_target.h"

#include <algorithm>
#include <filesystem>
#include <map>

#include <fmt/format.h>

#include "api/pod.h"
#include "base/strings.h"
#include "cli/jobs/listing.h"
#include "cli/objects/find_object.h"
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

bool may_be_a_pod(const LogName& name) {
  return name.object.bare || name.object.kinds.front().resource == api::pods();
}

bool has_pod(const RunRecord& run, const std::string& ns, const LogName& name) {
  return run.ns == ns && name.run.empty() && may_be_a_pod(name) &&
         std::ranges::find(run.pods, name.object.name, &RecordedPod::name) != run.pods.end();
}

// What this machine remembers of it, into the target.
Result<void> find_record(const Context& context, const LogName& name, LogTarget& out) {
  if (out.followed && name.run.empty()) {
    if (auto record = read_record(context.home, out.followed->uid)) out.record = std::move(*record);
    return {};
  }
  std::vector<RunRecord> meant;
  std::optional<RunRecord> by_pod;
  for (RunRecord& run : read_history(context.home)) {
    if (run.ns == out.key.ns && names_run(name, run)) {
      meant.push_back(std::move(run));
    } else if (!by_pod && has_pod(run, out.key.ns, name)) {
      by_pod = std::move(run);
    }
  }
  if (meant.size() > 1 && !name.run.empty()) {
    std::vector<std::string> ids;
    for (const RunRecord& run : meant) ids.push_back(run.id());
    return fail(ErrorCode::BadRequest,
                fmt::format("{}@{} could be {}; give more of it", printable(out.key.name),
                            printable(name.run), join(ids, " or ")));
  }
  if (!meant.empty()) {
    out.record = std::move(meant.front());
  } else if (by_pod) {
    out.record = std::move(by_pod);
    out.only_pod = name.object.name;
  }
  return {};
}

void follow(const FoundObject& found, LogTarget& out) {
  if (found.of.dialect == nullptr) {
    out.followed = Followed::pod(*found.object);
    return;
  }
  out.followed = Followed::job(*found.object, *found.of.dialect);
  out.cause = JobView::from(*found.object, *found.of.dialect).ledger.cause;
}

Error no_such_run(const Context& context, const LogTarget& target, const LogName& name) {
  return {.code = ErrorCode::NotFound,
          .message = fmt::format("no run {}@{} in namespace {}; see: {}",
                                 printable(target.key.name), printable(name.run), target.key.ns,
                                 context.command("history " + target.key.name))};
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
  name.object = TRY(parse_name(registry, what));
  return name;
}

bool names_run(const LogName& name, const RunRecord& run) {
  if (run.name != name.object.name || !run.uid.starts_with(name.run)) return false;
  if (run.resource == api::pods().qualified()) return may_be_a_pod(name);
  return std::ranges::any_of(name.object.kinds, [&](const NamedResource& kind) {
    return kind.resource.qualified() == run.resource;
  });
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
  LogTarget out{.key = {.ns = target.ns(), .name = name.object.name}};
  const auto found = co_await find_job_or_pod(context, target.cluster(), target.ns(), name.object);
  if (!found && found.error().code != ErrorCode::NotFound) co_return fail(found.error());
  if (found && api::uid_of(*found->object).starts_with(name.run)) follow(*found, out);
  if (target.is_local()) CO_TRY(find_record(context, name, out));
  // Of several runs an older one may be meant.
  if (out.followed && out.record && out.record->uid != out.followed->uid) out.followed.reset();
  if (!out.followed && !out.record) {
    if (!name.run.empty()) co_return fail(no_such_run(context, out, name));
    co_return fail(found.error());
  }
  if (!out.followed) {
    out.cause.reset();
    co_return out;
  }
  out.pods = CO_TRY(co_await list_all(target.cluster(), api::pods(), out.followed->pods));
  co_return out;
}

}  // namespace muster::cli
