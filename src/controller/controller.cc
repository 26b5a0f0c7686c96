#include "controller/controller.h"

#include <algorithm>

#include <fmt/format.h>

#include "api/object.h"
#include "base/strings.h"
#include "controller/pace.h"
#include "plan/suspend.h"

namespace muster::controller {
namespace {

using engine::Decision;
using plan::Note;
using std::chrono::seconds;

// Counts change with every pod; one write a second is enough for people and kind to the server.
constexpr Duration kCountsInterval = seconds(1);
// A status costs the server as much as two pods: while waves are under way it gives way to them,
// for so long at most, unless the wave itself needs it.
constexpr Duration kStatusPatience = seconds(5);
// How often one job is decided on in a row before the others get their turn.
constexpr int kLooksInARow = 8;

using plan::kStatusKey;

// Whether two ledgers differ in more than numbers that will differ again soon.
bool same_but_for_counts(const json::Value& a, const json::Value& b) {
  return a["phase"] == b["phase"] && a["cause"] == b["cause"] &&
         a["blockedOnNode"] == b["blockedOnNode"];
}

// Whether a note tells what was just done or stored, or a state that the next look finds again.
Recorder::About about(Note::Kind kind) {
  const bool lasts = kind == Note::Kind::Warning || kind == Note::Kind::CreateFailed ||
                     kind == Note::Kind::DeleteFailed;
  return lasts ? Recorder::About::Lasting : Recorder::About::Happening;
}

// Whether something was stored or made for the job: from then on an invalid edit does not end it.
bool has_begun(const engine::Observed& observed) {
  return observed.ledger.start_time || !observed.ledger.fixed.empty() || !observed.pods.empty() ||
         !observed.objects.empty();
}

// What an operator that we replace says of the job; it leaves no ledger.
plan::StoredPhase before_us(const plan::Dialect& dialect, const json::Value& job) {
  if (job["status"][kStatusKey].is_object()) return {};
  return dialect.phase_of(job["status"]);
}

Note left_to_another() {
  return {.kind = Note::Kind::Warning,
          .reason = "AnotherOperator",
          .detail =
              "another operator began this job, and it is left alone: muster "
              "operator --take-over goes on with it"};
}

// On its way out, and kept from it by the finalizer of an operator that we replaced.
bool is_held_by(const json::Value& job, const std::string& finalizer) {
  if (finalizer.empty() || !api::is_deleting(job)) return false;
  const json::Array& held = job["metadata"]["finalizers"].as_array();
  return std::ranges::find(held, json::Value(finalizer)) != held.end();
}

}  // namespace

Controller::Controller(rt::Loop& loop, cluster::Cluster& cluster, const plan::Registry& registry,
                       Rng& rng, Logger log, Options options)
    : loop_(loop),
      cluster_(cluster),
      log_(log.named("controller")),
      options_(std::move(options)),
      queue_(loop, rng),
      children_(loop, cluster, options_.ns, rng, log_,
                [this](const std::string& uid, bool lost) { enqueue_owner(uid, lost); }),
      recorder_(
          loop, cluster, rng, log.named("recorder"),
          {.busy = [this] { return !queue_.idle(); }, .may_write = [this] { return may_write(); }}),
      waves_(
          loop, cluster,
          {.pods = &children_.pods(),
           .objects = [this](const api::Resource& r) -> ObjectCache& {
             return children_.objects(r);
           }},
          rng, [this] { return may_write(); },
          options_.take_over ? WaveRunner::OfOthers::TakenOver : WaveRunner::OfOthers::LeftAlone) {
  if (options_.kinds.empty()) {
    for (const auto& dialect : registry.all()) options_.kinds.push_back(dialect.get());
  }
  for (const plan::Dialect* dialect : options_.kinds) {
    const std::size_t at = kinds_.size();
    kinds_.push_back(std::make_unique<Kind>(loop, cluster, *dialect, options_.ns, rng, log_,
                                            [this, at](const api::ObjectKey& key) {
                                              if (kinds_[at]->running)
                                                queue_.add(kinds_[at]->queue_key(key));
                                            }));
  }
}

Controller::~Controller() = default;

Task<void> Controller::run() {
  rt::TaskScope scope(loop_);
  const auto stop = [&scope] { scope.request_stop(); };
  const std::stop_callback linked(co_await rt::current_stop(), stop);
  for (const auto& kind : kinds_) scope.spawn(begin(*kind, scope));
  scope.spawn(recorder_.run());
  for (int i = 0; i < options_.workers; ++i) scope.spawn(work());
  co_await scope.join();
}

Task<void> Controller::begin(Kind& kind, rt::TaskScope& scope) {
  scope.spawn(kind.reflector.run());
  if (!co_await kind.reflector.synced().wait()) co_return;
  // Deciding on half of what exists would create what is already there.
  const plan::Identity& identity = kind.dialect->identity();
  if (!co_await children_.follow(
          {.resources = identity.children, .optional = identity.optional_children}, scope)) {
    co_return;
  }
  kind.running = true;
  for (const auto& [key, job] : kind.jobs.all()) queue_.add(kind.queue_key(key));
  kind.reflector.news().pulse();
}

Task<Result<void>> Controller::wait_until_synced() {
  for (const auto& kind : kinds_) {
    while (!kind->running && !kind->is_absent()) CO_TRY(co_await kind->reflector.news().wait());
  }
  co_return Result<void>{};
}

std::string Controller::trouble() const {
  for (const auto& kind : kinds_) {
    if (kind->is_absent()) continue;
    if (const auto& trouble = kind->reflector.trouble()) return trouble->message;
  }
  if (const auto trouble = children_.trouble()) return trouble->message;
  for (const auto& kind : kinds_) {
    if (kind->running || kind->is_absent()) continue;
    return fmt::format("{} and their children are not known yet", kind->resource().qualified());
  }
  return "";
}

std::string Controller::metrics() const {
  std::string out = metrics_.text();
  std::vector<Followed> followed;
  for (const auto& kind : kinds_) followed.push_back({&kind->reflector, kind->is_absent()});
  for (const auto& reflector : children_.reflectors())
    followed.push_back({reflector.get(), children_.is_dispensable(*reflector)});
  append_reflectors(out, followed);
  append_kinds(out, kinds_);
  queue_.append_figures(out);
  return out;
}

Kind* Controller::kind_of(const std::string& queue_key) {
  for (const auto& kind : kinds_) {
    if (queue_key.starts_with(kind->prefix)) return kind.get();
  }
  return nullptr;
}

// A uid belongs to one job of one kind.
void Controller::enqueue_owner(const std::string& uid, bool lost) {
  for (const auto& kind : kinds_) {
    const auto* job = kind->jobs.key_of(uid);
    if (job == nullptr) continue;
    if (!kind->running) return;
    const std::string key = kind->queue_key(*job);
    const auto memory = memories_.find(key);
    if (memory == memories_.end()) {
      queue_.add(key);
    } else {
      memory->second.recheck |= lost;
      queue_.add_after(key, memory->second.next_look - loop_.monotonic());
    }
    return;
  }
  forget_gone(uid);
}

void Controller::forget_gone(const std::string& uid) {
  children_.pods().bury(uid, children_.pods().gone_of(uid));
}

Task<void> Controller::work() {
  while (true) {
    const auto key = co_await queue_.next();
    if (!key) co_return;
    ++looks_;
    const Monotonic begun = loop_.monotonic();
    const auto done = co_await sync(*key);
    Kind& kind = *kind_of(*key);
    kind.looks_taken.record(loop_.monotonic() - begun);
    if (done) {
      queue_.succeeded(*key);
    } else if (done.error().code != ErrorCode::Cancelled) {
      log_.info("{}: {}; trying again", *key, done.error().message);
      ++kind.looks_failed;
      queue_.add_failed(*key);
    }
    queue_.done(*key);
  }
}

// Looks until there is nothing left to do at once, within reason.
Task<Result<void>> Controller::sync(const std::string& key) {
  Kind& kind = *kind_of(key);
  const std::string path = key.substr(kind.prefix.size());
  const auto slash = path.find('/');
  const api::ObjectKey object{.ns = path.substr(0, slash), .name = path.substr(slash + 1)};
  Compiled compiled;
  for (int looks = 0; looks < kLooksInARow; ++looks) {
    if (!may_write()) co_return Result<void>{};
    const auto job = kind.jobs.find(object);
    if (!job) {
      if (const auto memory = memories_.find(key); memory != memories_.end()) {
        recorder_.forget(memory->second.uid);
        forget_gone(memory->second.uid);
        metrics_.count(Metrics::Job::Deleted, kind.dialect->identity().framework, object.ns);
        memories_.erase(memory);
      }
      co_return Result<void>{};
    }
    if (const auto memory = memories_.find(key);
        memory != memories_.end() && memory->second.recheck) {
      CO_TRY(co_await read_again(kind, object, job));
      memories_[key].recheck = false;
      continue;
    }
    if (!CO_TRY(co_await look(kind, key, job, compiled))) co_return Result<void>{};
  }
  queue_.add(key);
  co_return Result<void>{};
}

// A child went that we had not sent away. If its owner went first and we have not heard of it,
// every child that we made anew would be collected at once, and so on until the news arrives.
Task<Result<void>> Controller::read_again(Kind& kind, const api::ObjectKey& key,
                                          cluster::ObjectPtr job) {
  const auto now = co_await cluster_.get(kind.dialect->identity().resource, key);
  if (!now && now.error().code != ErrorCode::NotFound) co_return fail(now.error());
  if (now && api::uid_of(**now) == api::uid_of(*job)) {
    kind.jobs.learn(*now);
  } else {
    kind.jobs.forget(key, api::uid_of(*job));
  }
  co_return Result<void>{};
}

// One decision. True when it did something, so that another look is due.
Task<Result<bool>> Controller::look(Kind& kind, const std::string& key, cluster::ObjectPtr job,
                                    Compiled& compiled) {
  if (!kind.dialect->manages(*job)) co_return false;
  if (is_held_by(*job, kind.dialect->identity().foreign_finalizer)) {
    co_return co_await let_go(kind, job);
  }
  const plan::StoredPhase before = before_us(*kind.dialect, *job);
  if (plan::is_terminal(before.phase)) co_return false;  // it must not run again
  Memory& memory = memories_[key];
  if (memory.uid != api::uid_of(*job)) {
    memory = Memory{.uid = api::uid_of(*job),
                    .first_look = before.started.value_or(loop_.now()),
                    .last_status = loop_.monotonic()};
  }
  const plan::JobRef ref = plan::job_ref(kind.dialect->identity().resource, *job);
  if (before.started && !options_.take_over) {
    say(kind, ref, {left_to_another()});
    co_return false;
  }
  memory.next_look = loop_.monotonic() + pause_after_look(children_.count(memory.uid));
  if (compiled.uid != ref.uid || compiled.generation != ref.generation ||
      compiled.suspend != api::annotation_of(*job, plan::kSuspendAnnotation)) {
    compiled = compile(kind, *job);
  }
  const std::vector<std::string> gone = children_.pods().gone_of(memory.uid);
  Decision decision = children_.pods().lend(memory.uid, [&](std::vector<engine::PodView>& pods) {
    engine::Observed observed = observe(*job, memory);
    observed.pods.swap(pods);
    Decision decided = decide(compiled.plan, ref, observed);
    observed.pods.swap(pods);
    return decided;
  });
  if (compiled.warning && !plan::is_terminal(decision.verdict.phase)) {
    decision.notes.push_back({.kind = Note::Kind::Warning,
                              .reason = compiled.warning->reason,
                              .detail = compiled.warning->message});
  }
  // A frozen job has no plan; its status is written in the words of an empty one.
  plan::Plan frozen;
  frozen.job = ref;
  const plan::Plan& plan = compiled.plan ? *compiled.plan : frozen;
  const bool again = CO_TRY(co_await carry_out(kind, key, job, plan, std::move(decision)));
  children_.pods().bury(ref.uid, gone);
  co_return again || !gone.empty();
}

Controller::Compiled Controller::compile(const Kind& kind, const json::Value& job) {
  Compiled out{.uid = api::uid_of(job),
               .generation = api::generation_of(job),
               .suspend = api::annotation_of(job, plan::kSuspendAnnotation),
               .plan = kind.dialect->compile(job)};
  if (out.plan) {
    const auto ledger = plan::Ledger::from_json(job["status"][kStatusKey]);
    if (const std::string field = ledger.changed(*out.plan); !field.empty()) {
      out.plan =
          fail(ErrorCode::Invalid,
               fmt::format("{} cannot be changed once the job is there; put it back, or delete "
                           "the job and create it anew",
                           field));
      return out;
    }
    out.warning = plan::apply_suspend_annotation(kind.dialect->identity(), job, *out.plan);
  }
  return out;
}

// There is no work behind that finalizer, and nobody else is left to take it off.
Task<Result<bool>> Controller::let_go(Kind& kind, cluster::ObjectPtr job) {
  const plan::Identity& identity = kind.dialect->identity();
  json::Value update = *job;
  std::erase(update["metadata"]["finalizers"].array(), json::Value(identity.foreign_finalizer));
  const auto stored = co_await cluster_.update(identity.resource, std::move(update));
  if (!stored && stored.error().code != ErrorCode::NotFound) {
    co_return fail(stored.error().in("taking the finalizer off"));
  }
  if (stored) kind.jobs.learn(*stored);
  co_return false;
}

Decision Controller::decide(const Result<plan::Plan>& plan, const plan::JobRef& job,
                            const engine::Observed& observed) {
  if (plan) return options_.decide(*plan, observed, loop_.now());
  if (!has_begun(observed)) {
    return engine::decide_invalid(job, observed, plan.error(), loop_.now());
  }
  Decision decision = engine::decide_frozen(job, observed, loop_.now());
  if (!plan::is_terminal(observed.ledger.phase)) {
    decision.notes.push_back(
        {.kind = Note::Kind::Warning, .reason = "InvalidSpec", .detail = plan.error().message});
  }
  return decision;
}

// All but the pods, which are lent.
engine::Observed Controller::observe(const json::Value& job, Memory& memory) {
  engine::Observed observed;
  observed.ledger = plan::Ledger::from_json(job["status"][kStatusKey]);
  observed.first_look = memory.first_look;
  observed.deleting = api::is_deleting(job);
  observed.objects = children_.objects_of(memory.uid);
  observed.secrets = memory.secrets;
  observed.refusals = std::exchange(memory.refusals, {});
  return observed;
}

Task<Result<bool>> Controller::carry_out(Kind& kind, const std::string& key, cluster::ObjectPtr job,
                                         const plan::Plan& plan, Decision decision) {
  const plan::JobRef& ref = plan.job;
  const json::Value& stored = (*job)["status"];
  json::Value status = kind.dialect->status(plan, stored, decision.verdict, loop_.now());
  status[kStatusKey] = plan::muster_status(plan, stored[kStatusKey], decision.verdict);
  const bool changed = status != stored;
  // A server that drops the ledger is found out before anything is made that it could not keep.
  const bool commit = (decision.commit_first || !kind.keeps_ledger) && changed;
  if (commit) {
    CO_TRY(co_await store_status(kind, job, status));
    count(kind, ref, stored[kStatusKey], decision.verdict.phase);
    memories_[key].last_status = loop_.monotonic();
  }
  const std::int64_t epoch = decision.verdict.ledger.epoch;
  if (epoch != stored[kStatusKey]["epoch"].as_int()) memories_[key].secrets.clear();
  say(kind, ref, decision.notes);
  if (decision.wake_at) queue_.add_after(key, *decision.wake_at - loop_.now());
  if (!decision.wave.empty()) {
    WaveResult result = co_await waves_.run(plan, std::move(decision.wave));
    say(kind, ref, result.notes);
    metrics_.count(result.notes);
    memories_[key].refusals = std::move(result.refusals);
    memories_[key].secrets.insert(result.secrets.begin(), result.secrets.end());
    memories_[key].recheck |= result.job_in_doubt;
    if (result.failure) co_return fail(*result.failure);
    co_return true;  // decide again before the status is written: it may say more then
  }
  if (!commit && changed && is_due(key, status[kStatusKey], stored[kStatusKey])) {
    CO_TRY(co_await store_status(kind, job, status));
    count(kind, ref, stored[kStatusKey], decision.verdict.phase);
    memories_[key].last_status = loop_.monotonic();
  }
  if (!changed && plan::is_terminal(decision.verdict.phase)) settle(key);
  co_return commit;
}

void Controller::settle(const std::string& key) {
  Memory& memory = memories_[key];
  memory.refusals = {};
  memory.secrets.clear();
  children_.pods().lend(memory.uid, [](std::vector<engine::PodView>& pods) {
    for (engine::PodView& pod : pods) pod.forget_details();
    return true;
  });
}

// What nothing depends on may wait for a moment, and is looked at again then.
bool Controller::is_due(const std::string& key, const json::Value& ledger,
                        const json::Value& stored) {
  const Duration since = loop_.monotonic() - memories_[key].last_status;
  const Duration pause = waves_.running() > 0                  ? kStatusPatience
                         : same_but_for_counts(ledger, stored) ? kCountsInterval
                                                               : Duration::zero();
  if (since >= pause) return true;
  queue_.add_after(key, std::min(kCountsInterval, pause - since));
  return false;
}

Task<Result<cluster::ObjectPtr>> Controller::store_status(Kind& kind, cluster::ObjectPtr job,
                                                          json::Value status) {
  if (!may_write()) co_return fail(ErrorCode::Cancelled, "no longer the leader");
  json::Value update = *job;
  update["status"] = std::move(status);
  auto stored =
      co_await cluster_.update_status(kind.dialect->identity().resource, std::move(update));
  if (!stored) co_return fail(stored.error().in("writing the status"));
  if (!(**stored)["status"][kStatusKey].is_object()) {
    co_return fail(ErrorCode::Invalid,
                   "the server drops status.muster: its CRD is too old, apply deploy/crds");
  }
  kind.keeps_ledger = true;
  kind.jobs.learn(*stored);
  co_return *stored;
}

void Controller::say(const Kind& kind, const plan::JobRef& job, const std::vector<Note>& notes) {
  for (const Note& note : notes) {
    if (const auto text = kind.dialect->event_for(job, note)) {
      recorder_.record(kind.dialect->identity(), job, *text, note.subject, about(note.kind));
    }
  }
}

void Controller::count(const Kind& kind, const plan::JobRef& job, const json::Value& stored,
                       plan::Phase after) {
  const std::string& framework = kind.dialect->identity().framework;
  // A ledger is stored once and outlives us: no restart of the operator counts a job again.
  if (!stored.is_object()) metrics_.count(Metrics::Job::Created, framework, job.ns);
  const plan::Phase before = plan::phase_named(stored["phase"].as_string());
  if (before == after) return;
  if (after == plan::Phase::Succeeded) metrics_.count(Metrics::Job::Successful, framework, job.ns);
  if (after == plan::Phase::Failed) metrics_.count(Metrics::Job::Failed, framework, job.ns);
  if (after == plan::Phase::Restarting) metrics_.count(Metrics::Job::Restarted, framework, job.ns);
}

}  // namespace muster::controller
