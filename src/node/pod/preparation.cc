#include "node/pod/preparation.h"

#include <algorithm>
#include <filesystem>

#include "api/object.h"
#include "node/agent/declared.h"
#include "node/pod/container/container_spec.h"

namespace muster::node {

namespace {

constexpr Duration kReferenceWait = std::chrono::seconds(10);
constexpr Duration kLeastTokenWait = std::chrono::seconds(10);

Error stopped() {
  return {.code = ErrorCode::Cancelled, .message = "the pod is being stopped"};
}

}  // namespace

PodPreparation::PodPreparation(PodSubject& subject)
    : subject_(subject),
      references_(references_of(*subject.pod)),
      services_(subject),
      volumes_turn_(subject.node.loop, 1) {}

Task<void> PodPreparation::run() {
  const auto known = reference_changes_;
  const auto result = co_await prepare();
  if (!result) {
    const auto& error = result.error();
    if (error.code == ErrorCode::Cancelled) {
      subject_.tell(PreparationCancelled{});
    } else {
      subject_.tell(PreparationFailed{.message = error.message});
      // What was missing may have come meanwhile; nobody would tell us a second time.
      if (reference_changes_ != known) subject_.tell(Poked{});
    }
    co_return;
  }
  if (refresh_tokens_at_ && !refreshing_tokens_) {
    refreshing_tokens_ = true;
    subject_.scope.spawn(refresh_tokens());
  }
  subject_.tell(PreparationDone{});
}

Task<Result<void>> PodPreparation::prepare() {
  auto& node = subject_.node;
  const auto start = node.starts.begin();
  tell_declined();
  CO_TRY(assign_gpus());
  CO_TRY(co_await make_sandbox());
  if (subject_.facts.stopping) co_return fail(stopped());
  auto known = co_await rt::with_timeout(node.loop, kReferenceWait,
                                         node.references.wait_known(subject_.key.ns, references_));
  if (!known) co_return fail(known.error().in("reading the pod's ConfigMaps and Secrets"));
  if (subject_.facts.stopping) co_return fail(stopped());
  auto mounted = co_await mount();
  if (!mounted && mounted.error().code != ErrorCode::Cancelled) {
    subject_.event(EventSeverity::Warning, "FailedMount", mounted.error().message);
  }
  co_return mounted;
}

void PodPreparation::tell_declined() {
  const auto declined = declined_in(subject_.node.options.tier, *subject_.pod);
  if (!declined.empty() && !std::exchange(told_declined_, true))
    subject_.event(EventSeverity::Warning, kDeclinedReason, declined);
}

Result<void> PodPreparation::assign_gpus() {
  auto& node = subject_.node;
  const auto declared = declared_resources(*subject_.pod, node.options);
  if (!declared.empty() && !std::exchange(told_declared_, true)) {
    subject_.event(EventSeverity::Warning, kDeclaredReason, declared_message(declared));
  }
  if (node.options.declared.contains(kGpuResource)) return {};  // there are none to hand out
  auto gpus = TRY(node.gpus.assign(*subject_.pod));
  if (!gpus) return fail(ErrorCode::Unavailable, "waiting for GPUs that other pods still hold");
  gpus_ = std::move(*gpus);
  return {};
}

Task<Result<void>> PodPreparation::make_sandbox() {
  const auto hosts = CO_TRY(subject_.node.host.hosts_file(subject_.key.ns));
  auto sandbox = co_await subject_.node.runtime.create_sandbox(
      sandbox_spec(*subject_.pod, subject_.node.options, hosts), services_.begin());
  if (!sandbox) {
    if (sandbox.error().code != ErrorCode::Cancelled) {
      subject_.event(EventSeverity::Warning, "FailedCreatePodSandBox", sandbox.error().message);
    }
    co_return fail(sandbox.error().in("creating the sandbox"));
  }
  subject_.facts.sandbox = true;
  subject_.facts.pod_ip = sandbox->address;
  // Others may be waiting for the address, and we perhaps for what they make of it.
  subject_.tell(Changed{});
  CO_TRY(co_await subject_.node.host.publish_names());  // programs look up their own name first
  co_return co_await services_.catch_up();
}

Task<Result<void>> PodPreparation::mount() {
  CO_TRY(co_await fetch_tokens());
  CO_TRY(co_await fetch_claimed());
  co_return co_await write_volumes(VolumeWork::Which::All);
}

Place PodPreparation::place() const {
  const auto& options = subject_.node.options;
  return {.node_name = options.name,
          .host_ip = options.host_ip,
          .pod_ip = subject_.facts.pod_ip,
          .allocatable_cpu_milli = options.cpu_milli,
          .allocatable_memory_bytes = options.memory_bytes};
}

ReferencedObjects PodPreparation::referenced_objects() const {
  ReferencedObjects out;
  for (const auto& reference : references_) {
    out[reference] = subject_.node.references.find(subject_.key.ns, reference);
  }
  return out;
}

VolumeWork PodPreparation::volume_work(VolumeWork::Which which) const {
  const auto& options = subject_.node.options;
  return {.pod = subject_.pod,
          .place = place(),
          .objects = referenced_objects(),
          .tokens = tokens_,
          .claimed = claimed_,
          .home = options.home,
          .directory = volumes_directory(options) + "/" + subject_.uid,
          .memory_directory = secrets_directory(options) + "/" + subject_.uid,
          .which = which};
}

Task<Result<void>> PodPreparation::write_volumes(VolumeWork::Which which) {
  const auto turn = CO_TRY(co_await volumes_turn_.enter());
  if (cleared_) co_return fail(stopped());
  auto made = CO_TRY(
      co_await subject_.node.disk.run([work = volume_work(which)] { return make_volumes(work); }));
  for (auto& [name, source] : made) volumes_[name] = std::move(source);
  co_return Result<void>{};
}

Task<void> PodPreparation::refresh_volumes() {
  const auto made = co_await write_volumes(VolumeWork::Which::Refreshed);
  if (!made) subject_.node.log.debug("{}: {}", subject_.key.text(), made.error().message);
}

Task<Result<void>> PodPreparation::fetch_tokens() {
  auto account = (*subject_.pod)["spec"]["serviceAccountName"].as_string();
  if (account.empty()) account = "default";
  for (const auto& wish : token_wishes(*subject_.pod)) {
    cluster::TokenRequest request{.expiration_seconds = wish.expiration_seconds,
                                  .pod_name = subject_.key.name,
                                  .pod_uid = subject_.uid};
    if (!wish.audience.empty()) request.audiences.push_back(wish.audience);
    auto token = co_await subject_.node.cluster.create_token(
        {.ns = subject_.key.ns, .name = account}, std::move(request));
    if (!token) co_return fail(token.error().in("requesting a service account token"));
    tokens_[{wish.volume, wish.path}] = token->value;
    // The server may give less time than we asked for.
    const auto now = subject_.now();
    const auto expires = parse_time(token->expires);
    const auto end = expires ? *expires : now + seconds_saturating(wish.expiration_seconds);
    const auto refresh = now + (end - now) / 5 * 4;
    refresh_tokens_at_ = refresh_tokens_at_ && *refresh_tokens_at_ > now
                             ? std::min(*refresh_tokens_at_, refresh)
                             : refresh;
  }
  co_return Result<void>{};
}

// Asked for one by one: a node may read the claims of its pods, but not list or watch them. One
// that is missing or not bound is said when it is mounted.
Task<Result<void>> PodPreparation::fetch_claimed() {
  auto& cluster = subject_.node.cluster;
  for (const auto& name : claims_of(*subject_.pod)) {
    auto claim = co_await cluster.get(api::persistent_volume_claims(),
                                      {.ns = subject_.key.ns, .name = name});
    if (!claim && claim.error().code != ErrorCode::NotFound) co_return fail(claim.error());
    Claimed claimed{.claim = claim ? *claim : nullptr};
    const auto volume_name = claim ? (**claim)["spec"]["volumeName"].as_string() : "";
    if (!volume_name.empty()) {
      auto volume =
          co_await cluster.get(api::persistent_volumes(), {.ns = "", .name = volume_name});
      if (!volume && volume.error().code != ErrorCode::NotFound) co_return fail(volume.error());
      if (volume) claimed.volume = *volume;
    }
    claimed_[name] = std::move(claimed);
  }
  co_return Result<void>{};
}

Task<void> PodPreparation::refresh_tokens() {
  while (!subject_.scope.stopping()) {
    const auto wait = std::max<Duration>(*refresh_tokens_at_ - subject_.now(), kLeastTokenWait);
    const auto slept = co_await rt::sleep_for(subject_.node.loop, wait);
    if (!slept || subject_.facts.settled || cleared_) break;
    Result<void> fetched = co_await fetch_tokens();
    if (fetched) fetched = co_await write_volumes(VolumeWork::Which::Refreshed);
    if (!fetched) {
      subject_.node.log.warning("{}: {}", subject_.key.text(), fetched.error().message);
    }
  }
  refreshing_tokens_ = false;
}

std::vector<std::string> PodPreparation::gpus_of(const std::string& container) const {
  const auto found = gpus_.find(container);
  return found == gpus_.end() ? std::vector<std::string>{} : found->second;
}

Task<Result<ContainerSpec>> PodPreparation::container(std::string name, int attempt) {
  const auto turn = CO_TRY(co_await volumes_turn_.enter());
  if (cleared_ || subject_.facts.stopping) co_return fail(stopped());
  ContainerWork work{.pod = subject_.pod,
                     .container = name,
                     .attempt = attempt,
                     .place = place(),
                     .options = subject_.node.options,
                     .services = subject_.node.host.services(),
                     .objects = referenced_objects(),
                     .volumes = volumes_,
                     .gpus = gpus_of(name)};
  co_return co_await subject_.node.disk.run(
      [work = std::move(work)] { return container_spec(work); });
}

Task<void> PodPreparation::empty_volumes() {
  cleared_ = true;
  const auto turn = co_await volumes_turn_.enter();
  if (!turn) co_return;
  const auto work = volume_work(VolumeWork::Which::All);
  [[maybe_unused]] const auto removed = co_await subject_.node.disk.run(
      [paths = std::vector{work.directory, work.memory_directory}] { return remove_trees(paths); });
}

Task<void> PodPreparation::clear() {
  cleared_ = true;
  const auto turn = co_await volumes_turn_.enter();
  if (!turn) co_return;
  auto& node = subject_.node;
  const auto volumes = volume_work(VolumeWork::Which::All);
  [[maybe_unused]] const auto removed = co_await node.disk.run(
      [paths = std::vector{volumes.directory, volumes.memory_directory,
                           node.gpus.record_of(subject_.uid)}] { return remove_trees(paths); });
  if (subject_.scope.stopping()) co_return;
  node.gpus.forget(subject_.uid);
  if (!gpus_.empty()) node.host.gpus_released();
}

}  // namespace muster::node
