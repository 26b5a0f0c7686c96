#include <algorithm>

#include <fmt/format.h>

#include "api/object.h"
#include "node/pod/container/container_spec.h"
#include "node/pod/pod_worker.h"

namespace muster::node {

namespace {

constexpr Duration kReferenceWait = std::chrono::seconds(10);
constexpr Duration kLongestRetry = std::chrono::seconds(30);

Duration retry_delay(int failures) {
  Duration delay = std::chrono::seconds(1);
  for (int i = 1; i < failures && delay < kLongestRetry; ++i) delay *= 2;
  return std::min(delay, kLongestRetry);
}

}  // namespace

std::string PodWorker::volume_directory() const {
  return context_.options.directory + "/volumes/" + uid_;
}

std::string PodWorker::memory_directory() const {
  return secrets_directory(context_.options) + "/" + uid_;
}

// Everything that all containers share. Done again from the start when a part fails; every part is
// idempotent.
Task<void> PodWorker::prepare() {
  const auto result = co_await prepare_all();
  preparing_ = false;
  if (!result) {
    if (result.error().code == ErrorCode::Cancelled) {
      changed();
      co_return;
    }
    ++prepare_failures_;
    prepare_at_ = now() + retry_delay(prepare_failures_);
    hold_all(result.error());
    changed();
    co_return;
  }
  prepare_failures_ = 0;
  prepared_ = true;
  for (auto& container : record_.containers) container.hold.reset();
  if (refresh_tokens_at_ && !refreshing_tokens_) {
    refreshing_tokens_ = true;
    scope_.spawn(refresh_tokens());
  }
  changed();
}

void PodWorker::hold_all(const Error& error) {
  for (auto& container : record_.containers) {
    if (container.running() || container.ending() != nullptr) continue;
    container.hold =
        Hold{.reason = "ContainerCreating", .message = error.message, .retry_at = prepare_at_};
  }
}

Task<Result<void>> PodWorker::make_sandbox() {
  const auto hosts = CO_TRY(context_.surroundings.hosts_file(key_.ns));
  auto sandbox = co_await context_.runtime.create_sandbox(sandbox_spec(*pod_, hosts));
  if (!sandbox) {
    if (sandbox.error().code != ErrorCode::Cancelled) {
      event(EventSeverity::Warning, "FailedCreatePodSandBox", sandbox.error().message);
    }
    co_return fail(sandbox.error().in("creating the sandbox"));
  }
  record_.sandbox = true;
  record_.pod_ip = sandbox->address;
  // Others may be waiting for the address, and we perhaps for what they make of it.
  changed();
  context_.surroundings.publish_names();  // programs look up their own name first
  applied_rules_ = context_.surroundings.service_rules();
  const auto rules = applied_rules_ ? *applied_rules_ : std::vector<ServiceRule>{};
  CO_TRY(co_await context_.runtime.set_services(uid_, rules));
  services_changed();  // they may have moved on meanwhile
  co_return Result<void>{};
}

Task<Result<void>> PodWorker::prepare_all() {
  auto gpus = CO_TRY(context_.gpus.assign(*pod_));
  if (!gpus) co_return fail(ErrorCode::Unavailable, "waiting for GPUs that other pods still hold");
  gpus_ = std::move(*gpus);
  CO_TRY(co_await make_sandbox());
  if (record_.stopping) co_return fail(ErrorCode::Cancelled, "the pod is being stopped");
  auto known = co_await rt::with_timeout(context_.loop, kReferenceWait,
                                         context_.references.wait_known(key_.ns, references_));
  if (!known) co_return fail(known.error().in("reading the pod's ConfigMaps and Secrets"));
  if (record_.stopping) co_return fail(ErrorCode::Cancelled, "the pod is being stopped");
  Result<void> made = co_await fetch_tokens();
  if (made) made = make_volumes(false);
  if (!made) {
    if (made.error().code != ErrorCode::Cancelled) {
      event(EventSeverity::Warning, "FailedMount", made.error().message);
    }
    co_return fail(made.error());
  }
  co_return Result<void>{};
}

Result<void> PodWorker::make_volumes(bool only_refreshed) {
  const auto at = place();
  const auto find = lookup();
  const VolumeInput input{.pod = *pod_,
                          .place = at,
                          .lookup = find,
                          .tokens = tokens_,
                          .directory = volume_directory(),
                          .memory_directory = memory_directory()};
  for (const auto& volume : (*pod_)["spec"]["volumes"].as_array()) {
    if (only_refreshed && !is_refreshed(volume)) continue;
    auto made = make_volume(input, volume);
    const auto& name = volume["name"].as_string();
    if (!made) {
      return fail(made.error().in(fmt::format("MountVolume.SetUp failed for volume \"{}\"", name)));
    }
    volumes_[name] = std::move(*made);
  }
  return {};
}

Task<Result<void>> PodWorker::fetch_tokens() {
  const auto wishes = token_wishes(*pod_);
  auto account = (*pod_)["spec"]["serviceAccountName"].as_string();
  if (account.empty()) account = "default";
  for (const auto& wish : wishes) {
    cluster::TokenRequest request{
        .expiration_seconds = wish.expiration_seconds, .pod_name = key_.name, .pod_uid = uid_};
    if (!wish.audience.empty()) request.audiences.push_back(wish.audience);
    auto token = co_await context_.cluster.create_token({.ns = key_.ns, .name = account},
                                                        std::move(request));
    if (!token) co_return fail(token.error().in("requesting a service account token"));
    tokens_[{wish.volume, wish.path}] = token->value;
    // The server may give less time than we asked for.
    const auto expires = parse_time(token->expires);
    const auto end = expires ? *expires : now() + std::chrono::seconds(wish.expiration_seconds);
    const auto refresh = now() + (end - now()) * 4 / 5;
    refresh_tokens_at_ = refresh_tokens_at_ && *refresh_tokens_at_ > now()
                             ? std::min(*refresh_tokens_at_, refresh)
                             : refresh;
  }
  co_return Result<void>{};
}

Task<void> PodWorker::refresh_tokens() {
  while (!scope_.stopping() && !record_.settled) {
    const auto wait = std::max<Duration>(*refresh_tokens_at_ - now(), std::chrono::seconds(10));
    const auto slept = co_await rt::sleep_for(context_.loop, wait);
    if (!slept || record_.settled || !prepared_) break;
    Result<void> fetched = co_await fetch_tokens();
    if (fetched) fetched = make_volumes(true);
    if (!fetched) context_.log.warning("{}: {}", key_.text(), fetched.error().message);
  }
  refreshing_tokens_ = false;
}

void PodWorker::services_changed() {
  if (!record_.sandbox || applying_services_ || !applied_rules_) return;
  if (context_.surroundings.service_rules() == applied_rules_) return;
  applying_services_ = true;
  scope_.spawn(apply_services());
}

// One at a time; what changes meanwhile is taken in the next round.
Task<void> PodWorker::apply_services() {
  while (record_.sandbox && !scope_.stopping()) {
    const auto wanted = context_.surroundings.service_rules();
    if (wanted == applied_rules_) break;
    const bool same = *wanted == *applied_rules_;
    if (!same) {
      const auto applied = co_await context_.runtime.set_services(uid_, *wanted);
      if (!applied) {
        if (applied.error().code == ErrorCode::Cancelled) break;
        context_.log.debug("{}: setting services: {}", key_.text(), applied.error().message);
        const auto slept = co_await rt::sleep_for(context_.loop, std::chrono::seconds(1));
        if (!slept) break;
        continue;
      }
    }
    applied_rules_ = wanted;
  }
  applying_services_ = false;
}

}  // namespace muster::node
