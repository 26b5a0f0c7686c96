#include "cli/history/history_keeper.h"

#include <functional>
#include <utility>

#include <fmt/format.h>

#include "api/object.h"
#include "api/pod.h"
#include "base/strings.h"
#include "cli/jobs/followed.h"
#include "cli/jobs/job_view.h"
#include "plan/plan.h"

namespace muster::cli {
namespace {

using std::chrono::minutes;

constexpr Duration kBetweenSweeps = minutes(10);

std::string cause_of(const JobView& view) {
  const auto& cause = view.ledger.cause;
  if (view.phase != plan::Phase::Failed || !cause) return "";
  std::string who = cause->pod;
  if (!cause->role.empty()) who = fmt::format("{} {}", cause->role, cause->index);
  std::string how = cause->reason.empty() ? cause->text : cause->reason;
  if (cause->exit_code) how = fmt::format("exit {}", *cause->exit_code);
  return who.empty() ? how : fmt::format("{}: {}", who, how);
}

RecordedEnd end_of(const JobView& view, std::optional<Time> started, Time ended) {
  return {.result = std::string(view.state()),
          .exit_code = exit_code_for(view),
          .message = view.message,
          .cause = cause_of(view),
          .started = started,
          .ended = ended,
          .ranks = view.ranks,
          .restarts = view.restarts};
}

RecordedPod recorded(const json::Value& pod) {
  RecordedPod out{
      .name = api::name_of(pod),
      .uid = api::uid_of(pod),
      .role = api::label_of(pod, plan::labels::kRole),
      .index = static_cast<int>(parse_int(api::label_of(pod, plan::labels::kIndex)).value_or(0))};
  for (const json::Value& container : pod["spec"]["containers"].as_array())
    out.containers.push_back(container["name"].as_string());
  const auto phase = api::phase_of(pod);
  if (!api::is_finished(phase)) return out;
  out.exit_code = 0;
  if (phase != api::PodPhase::Failed) return out;
  const auto cause = pod_view(pod).ledger.cause;
  out.exit_code = cause ? cause->exit_code.value_or(1) : 1;
  out.failed = !api::is_deleting(pod);
  return out;
}

// An object says in whole seconds when it was made; two runs of one name may fit into one.
Time made_at(const json::Value& object, Time now) {
  const Time said = api::creation_time_of(object).value_or(now);
  return now - said < std::chrono::seconds(2) ? now : said;
}

}  // namespace

// Hands on what is new or has changed, and what is gone, also when only a list says so.
class HistoryKeeper::Changes final : public cluster::Sink {
 public:
  using Tell = std::function<void(const json::Value& object, bool deleted)>;
  explicit Changes(Tell tell) : tell_(std::move(tell)) {}
  void begin() override { staged_.clear(); }
  void stage(std::vector<cluster::ObjectPtr> page) override {
    for (auto& object : page) staged_[api::uid_of(*object)] = std::move(object);
  }
  void commit(const std::string&) override {
    const auto before = std::exchange(known_, std::exchange(staged_, {}));
    for (const auto& [uid, object] : before) {
      if (!known_.contains(uid)) tell_(*object, true);
    }
    for (const auto& [uid, object] : known_) tell_(*object, false);
  }
  void apply(const cluster::WatchEvent& event) override {
    const bool deleted = event.type == cluster::EventType::Deleted;
    if (deleted) {
      known_.erase(api::uid_of(*event.object));
    } else {
      known_[api::uid_of(*event.object)] = event.object;
    }
    tell_(*event.object, deleted);
  }

 private:
  Tell tell_;
  std::map<std::string, cluster::ObjectPtr> staged_;
  std::map<std::string, cluster::ObjectPtr> known_;
};

HistoryKeeper::HistoryKeeper(Context& context, cluster::Cluster& cluster, Quota quota)
    : context_(context),
      cluster_(cluster),
      quota_(quota),
      ended_(context.loop),
      scope_(context.loop) {
  const auto watch = [&](const api::Resource& resource, Changes::Tell tell) {
    sinks_.push_back(std::make_unique<Changes>(std::move(tell)));
    reflectors_.push_back(std::make_unique<cluster::Reflector>(
        context.loop, cluster, resource, cluster::Selection{}, *sinks_.back(), context.rng,
        context.log.named("history")));
  };
  for (const auto& dialect : context.registry.all()) {
    watch(dialect->identity().resource, [this, &dialect](const json::Value& job, bool deleted) {
      see_job(job, *dialect, deleted);
    });
  }
  watch(api::pods(), [this](const json::Value& pod, bool deleted) { see_pod(pod, deleted); });
}

HistoryKeeper::~HistoryKeeper() = default;

void HistoryKeeper::start() {
  for (const auto& reflector : reflectors_) scope_.spawn(reflector->run());
  scope_.spawn(keep_quota());
}

Task<void> HistoryKeeper::close() {
  co_await scope_.close();
}

RunRecord& HistoryKeeper::run_of(const std::string& uid) {
  const auto known = runs_.find(uid);
  if (known != runs_.end()) return known->second;
  return runs_.emplace(uid, read_record(context_.home, uid).value_or(RunRecord{})).first->second;
}

void HistoryKeeper::write(const std::string& uid, const json::Value& line) {
  const auto written = append_line(context_.home, uid, line);
  if (written || std::exchange(complained_, true)) return;
  context_.log.warning("the history of this home is not complete: {}", written.error().message);
}

void HistoryKeeper::begin(const RunRecord& what) {
  RunRecord& run = run_of(what.uid);
  if (!run.uid.empty()) return;
  run.ns = what.ns;
  run.name = what.name;
  run.kind = what.kind;
  run.resource = what.resource;
  run.uid = what.uid;
  run.created = what.created;
  write(what.uid, begin_line(run));
}

void HistoryKeeper::see_job(const json::Value& job, const plan::Dialect& dialect, bool deleted) {
  const std::string& uid = api::uid_of(job);
  const JobView view = JobView::from(job, dialect);
  begin({.ns = api::namespace_of(job),
         .name = api::name_of(job),
         .kind = dialect.identity().resource.kind,
         .resource = dialect.identity().resource.qualified(),
         .uid = uid,
         .created = made_at(job, context_.loop.now())});
  if (!view.finished() && !deleted) {
    living_.insert(uid);
    note_presence(uid, uid, false);
    return;
  }
  living_.erase(uid);
  RecordedEnd how = end_of(view, view.ledger.start_time,
                           view.ledger.completion_time.value_or(context_.loop.now()));
  if (!view.finished()) how.result = "Deleted";
  end(uid, std::move(how));
  note_presence(uid, uid, deleted);
}

void HistoryKeeper::see_pod(const json::Value& pod, bool deleted) {
  const std::string& uid = api::uid_of(pod);
  if (deleted || api::is_finished(api::phase_of(pod))) {
    living_.erase(uid);
  } else {
    living_.insert(uid);
  }
  const std::string owner = api::controller_uid_of(pod);
  if (owner.empty()) see_lone_pod(pod, deleted);
  const std::string& run = owner.empty() ? uid : owner;
  note_pod(run, recorded(pod));
  note_presence(run, uid, deleted);
}

// What is heard of a run after all of it is gone is compared with its file again.
void HistoryKeeper::note_presence(const std::string& run_uid, const std::string& uid, bool gone) {
  if (!gone) {
    present_[run_uid].insert(uid);
    return;
  }
  auto& left = present_[run_uid];
  left.erase(uid);
  if (!left.empty()) return;
  present_.erase(run_uid);
  runs_.erase(run_uid);
}

void HistoryKeeper::note_pod(const std::string& run_uid, RecordedPod now) {
  RunRecord& run = run_of(run_uid);
  RecordedPod* known = run.find_pod(now.uid);
  if (known != nullptr && (known->exit_code || !now.exit_code)) return;
  write(run_uid, pod_line(now));
  if (known != nullptr) {
    *known = std::move(now);
  } else {
    run.pods.push_back(std::move(now));
  }
}

// A run of its own: somebody made it by hand.
void HistoryKeeper::see_lone_pod(const json::Value& pod, bool deleted) {
  const std::string& uid = api::uid_of(pod);
  begin({.ns = api::namespace_of(pod),
         .name = api::name_of(pod),
         .kind = "Pod",
         .resource = "pods",
         .uid = uid,
         .created = made_at(pod, context_.loop.now())});
  const JobView view = pod_view(pod);
  if (!view.finished() && !deleted) return;
  RecordedEnd how = end_of(view, api::time_at(pod["status"]["startTime"]), context_.loop.now());
  if (!view.finished()) how.result = "Deleted";
  end(uid, std::move(how));
}

void HistoryKeeper::end(const std::string& uid, RecordedEnd how) {
  RunRecord& run = run_of(uid);
  if (run.end) return;
  if (how.result == "Deleted") how.exit_code = exit_code::kInterrupted;
  write(uid, end_line(how));
  run.end = std::move(how);
  ended_.pulse();
}

Task<void> HistoryKeeper::keep_quota() {
  // Not before everything that lives is known.
  for (const auto& reflector : reflectors_) {
    if (!co_await reflector->synced().wait()) co_return;
  }
  while (true) {
    const auto lost = co_await context_.pool.run(
        context_.loop,
        [home = context_.home, quota = quota_, living = living_, now = context_.loop.now()] {
          return keep_within(home, quota, living, now);
        });
    if (!lost) co_return;
    for (const std::string& uid : *lost) {
      if (!living_.contains(uid))
        write(uid, end_line({.result = "Unknown", .ended = context_.loop.now()}));
    }
    const rt::Timer enough(context_.loop, kBetweenSweeps, [this] { ended_.pulse(); });
    if (!co_await ended_.wait()) co_return;
  }
}

}  // namespace muster::cli
