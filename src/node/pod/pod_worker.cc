#include "node/pod/pod_worker.h"

#include <algorithm>
#include <filesystem>
#include <tuple>

#include "api/object.h"
#include "node/pod/pod_status.h"

namespace muster::node {

namespace {

constexpr Duration kRetry = std::chrono::seconds(1);

void remove_tree(const std::string& path) {
  std::error_code error;
  std::filesystem::remove_all(path, error);
}

// What others on the node look at.
auto visible(const json::Value& pod) {
  return std::tuple(api::pod_ip_of(pod), api::is_ready(pod), api::phase_of(pod));
}

}  // namespace

PodWorker::PodWorker(WorkerContext& context, api::ObjectPtr pod,
                     std::optional<AdoptedSandbox> adopted)
    : context_(context),
      uid_(api::uid_of(*pod)),
      key_(api::key_of(*pod)),
      pod_(std::move(pod)),
      view_(pod_),
      adopted_(std::move(adopted)),
      record_(record_of(*pod_)),
      references_(references_of(*pod_)),
      wake_(context.loop),
      dirty_(context.loop),
      written_(context.loop),
      scope_(context.loop) {
  if (!record_.start_time) record_.start_time = now();
}

void PodWorker::start() {
  context_.references.acquire(key_.ns, references_);
  if (!record_.settled) {
    if (adopted_) adopt(*adopted_);
    mark_lost();
  }
  scope_.spawn(run());
  scope_.spawn(write_statuses());
}

Task<void> PodWorker::close() {
  co_await scope_.close();
  for (auto& [name, prober] : probers_) co_await prober->close();
  probers_.clear();
  context_.references.release(key_.ns, std::exchange(references_, {}));
}

void PodWorker::observe(api::ObjectPtr pod) {
  const auto before = std::exchange(pod_, std::move(pod));
  const auto& old = (*before)["metadata"];
  const auto& fresh = (*pod_)["metadata"];
  const bool told = old["labels"] == fresh["labels"] && old["annotations"] == fresh["annotations"];
  if (!told && prepared_) {
    // Downward volumes show them.
    const auto made = make_volumes(true);
    if (!made) context_.log.debug("{}: {}", key_.text(), made.error().message);
  }
  changed();
}

void PodWorker::vanish() {
  vanished_ = true;
  record_.stopping = true;
  changed();
}

void PodWorker::poke() {
  for (auto& container : record_.containers) {
    if (container.hold) container.hold->retry_at = {};
  }
  prepare_at_ = {};
  changed();
}

void PodWorker::references_changed(const Reference& reference) {
  if (!references_.contains(reference)) return;
  // What runs sees new content in its volumes; what is missing meanwhile keeps its old content.
  if (prepared_) {
    const auto made = make_volumes(true);
    if (!made) context_.log.debug("{}: {}", key_.text(), made.error().message);
  }
  poke();
}

void PodWorker::remember_view() {
  auto fresh = *pod_;
  fresh["status"] = desired_status();
  const auto before = visible(*view_);
  view_ = std::make_shared<const json::Value>(std::move(fresh));
  if (before != visible(*view_)) context_.surroundings.pod_changed();
}

void PodWorker::changed() {
  woken_ = true;
  wake_.pulse();
  remember_view();
  if (!status_settled()) dirty_.set();
}

void PodWorker::event(EventSeverity severity, std::string reason, std::string message,
                      std::string container) {
  context_.events.record(*pod_, {.severity = severity,
                                 .reason = std::move(reason),
                                 .message = std::move(message),
                                 .container = std::move(container)});
}

Place PodWorker::place() const {
  const auto& options = context_.options;
  return {.node_name = options.name,
          .host_ip = options.host_ip,
          .pod_ip = record_.pod_ip,
          .allocatable_cpu_milli = options.cpu_milli,
          .allocatable_memory_bytes = options.memory_bytes};
}

Lookup PodWorker::lookup() const {
  return
      [this](const Reference& reference) { return context_.references.find(key_.ns, reference); };
}

void PodWorker::check_deadlines() {
  if (record_.settled) return;
  if (api::is_deleting(*pod_)) {
    const auto grace = (*pod_)["metadata"]["deletionGracePeriodSeconds"].as_int(30);
    begin_stop_all(std::chrono::seconds(std::max<std::int64_t>(0, grace)));
  }
  const auto& limit = (*pod_)["spec"]["activeDeadlineSeconds"];
  if (!limit.is_int() || record_.stopping) return;
  const auto at = *record_.start_time + std::chrono::seconds(limit.as_int());
  if (at > now()) {
    wake_at_ = at;
    return;
  }
  record_.failure = {.reason = "DeadlineExceeded",
                     .message = "Pod was active on the node longer than the specified deadline"};
  event(EventSeverity::Normal, record_.failure->reason, record_.failure->message);
  const auto grace = (*pod_)["spec"]["terminationGracePeriodSeconds"].as_int(30);
  begin_stop_all(std::chrono::seconds(std::max<std::int64_t>(0, grace)));
}

// Looks at everything anew and sets in motion what follows from it.
void PodWorker::step() {
  wake_at_.reset();
  check_deadlines();
  const auto decision = decide(record_, context_.options.back_off, now());
  final_ = decision.final;
  if (decision.wake_at)
    wake_at_ = wake_at_ ? std::min(*wake_at_, *decision.wake_at) : decision.wake_at;
  const bool wants_sandbox = !decision.start.empty() || (record_.sandbox && !record_.settled);
  if (wants_sandbox && !prepared_ && !preparing_ && !record_.stopping) {
    if (prepare_at_ > now()) {
      wake_at_ = wake_at_ ? std::min(*wake_at_, prepare_at_) : prepare_at_;
    } else {
      preparing_ = true;
      scope_.spawn(prepare());
    }
  }
  if (preparing_) final_.reset();  // what is being made must be there before it can be taken down
  if (prepared_) {
    for (const auto& name : decision.start) begin_start(*record_.find(name));
  }
  const auto grace = (*pod_)["spec"]["terminationGracePeriodSeconds"].as_int(30);
  for (const auto& name : decision.stop) {
    begin_stop(name, record_.find(name)->attempt, std::chrono::seconds(grace));
  }
}

Task<void> PodWorker::wait_for_change() {
  while (!woken_ && !scope_.stopping()) {
    if (!wake_at_) {
      [[maybe_unused]] const auto waited = co_await wake_.wait();
      continue;
    }
    const auto left = *wake_at_ - now();
    if (left <= Duration::zero()) break;
    [[maybe_unused]] const auto waited =
        co_await rt::with_timeout(context_.loop, left, wake_.wait());
  }
}

Task<void> PodWorker::run() {
  while (!scope_.stopping()) {
    woken_ = false;
    if (vanished_) {
      co_await tear_down();
      break;
    }
    step();
    remember_view();
    if (!status_settled()) dirty_.set();
    if (final_) {
      co_await finish(*final_);
      break;
    }
    co_await wait_for_change();
  }
  if (scope_.stopping()) co_return;
  done_ = true;
  context_.surroundings.pod_done(uid_);
}

// The exit codes are in the API before the runtime forgets them.
Task<void> PodWorker::finish(api::PodPhase phase) {
  co_await flush();
  if (scope_.stopping()) co_return;
  if (api::is_finished(phase)) record_.settled = phase;
  co_await tear_down();
  while (!vanished_ && !api::is_deleting(*pod_) && !scope_.stopping()) {
    woken_ = false;
    wake_at_.reset();
    co_await wait_for_change();
  }
  if (!vanished_ && !scope_.stopping()) co_await remove_from_api();
}

Task<void> PodWorker::tear_down() {
  for (const auto& container : record_.containers) stop_probes(container.name);
  if (preparing_) {
    // Its volumes would come back after us.
    [[maybe_unused]] const auto killed = co_await context_.runtime.kill_sandbox(uid_);
    while (preparing_ && !scope_.stopping()) {
      woken_ = false;
      wake_at_.reset();
      co_await wait_for_change();
    }
  }
  while (!scope_.stopping()) {
    const auto removed = co_await context_.runtime.remove_sandbox(uid_);
    if (removed) break;
    context_.log.warning("{}: removing its sandbox: {}", key_.text(), removed.error().message);
    [[maybe_unused]] const auto slept = co_await rt::sleep_for(context_.loop, kRetry);
  }
  if (scope_.stopping()) co_return;
  record_.sandbox = false;
  prepared_ = false;
  const auto work = [volumes = volume_directory(), secrets = memory_directory()] {
    remove_tree(volumes);
    remove_tree(secrets);
    return true;
  };
  if (context_.pool != nullptr) {
    [[maybe_unused]] const auto removed = co_await context_.pool->run(context_.loop, work);
  } else {
    work();
  }
  context_.gpus.release(uid_);
  if (!gpus_.empty()) context_.surroundings.gpus_released();
}

Task<void> PodWorker::remove_from_api() {
  while (!vanished_ && !scope_.stopping()) {
    const auto removed = co_await context_.cluster.remove(
        api::pods(), key_, cluster::DeleteOptions{.uid = uid_, .grace_seconds = 0});
    if (removed || removed.error().code == ErrorCode::NotFound ||
        removed.error().code == ErrorCode::Conflict) {
      co_return;
    }
    [[maybe_unused]] const auto slept = co_await rt::sleep_for(context_.loop, kRetry);
  }
}

}  // namespace muster::node
