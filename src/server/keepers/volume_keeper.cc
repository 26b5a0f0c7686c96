#include "server/keepers/volume_keeper.h"

#include <algorithm>

#include <fmt/format.h>

#include "api/object.h"
#include "api/pod.h"
#include "server/core.h"
#include "server/volumes/binding.h"

namespace muster::server {
namespace {

constexpr Duration kRetry = std::chrono::seconds(10);

bool has_finalizer(const json::Value& object, const char* finalizer) {
  const json::Array& finalizers = object["metadata"]["finalizers"].as_array();
  return std::ranges::find(finalizers, json::Value(finalizer)) != finalizers.end();
}

json::Value without_finalizer(const json::Value& object, const char* finalizer) {
  json::Value out = object;
  std::erase(out["metadata"]["finalizers"].array(), json::Value(finalizer));
  return out;
}

// Whether a pod's coming or going can matter to a claim.
bool names_claims(const ObjectPtr& pod) {
  return pod != nullptr &&
         std::ranges::any_of((*pod)["spec"]["volumes"].as_array(), [](const json::Value& volume) {
           return volume["persistentVolumeClaim"].is_object();
         });
}

bool is_over(const ObjectPtr& pod) {
  return pod == nullptr || api::is_finished(api::phase_of(*pod));
}

json::Value class_object(const char* name, const char* policy) {
  json::Value out;
  out["metadata"]["name"] = name;
  out["provisioner"] = kProvisioner;
  out["reclaimPolicy"] = policy;
  return out;
}

}  // namespace

VolumeKeeper::VolumeKeeper(Core& core, VolumeDirectories* directories)
    : core_(core), directories_(directories), work_(core.loop_), scope_(core.loop_) {
  work_.set();
}

void VolumeKeeper::start() {
  scope_.spawn(run());
}

void VolumeKeeper::seed() {
  if (directories_ == nullptr) return;
  const Kind& kind = *core_.kinds_.find(api::storage_classes());
  const auto make = [&](json::Value object) {
    if (core_.journal_.table(kind).find_head(api::key_of(object)) != nullptr) return;
    [[maybe_unused]] const auto made = core_.create_now(kind, std::move(object), Mode::Store);
  };
  auto standard = class_object("standard", "Delete");
  standard["metadata"]["annotations"][kDefaultClass] = "true";
  make(std::move(standard));
  make(class_object("retain", "Retain"));
}

void VolumeKeeper::note(const Table& table, const ObjectPtr& before, const ObjectPtr& after) {
  const Kind& kind = table.kind();
  if (kind.is(api::pods())) {
    if (names_claims(before != nullptr ? before : after) && is_over(before) != is_over(after))
      work_.set();
    return;
  }
  const bool ours = kind.is(api::persistent_volume_claims()) ||
                    kind.is(api::persistent_volumes()) || kind.is(api::storage_classes());
  if (!ours) return;
  if (after == nullptr) told_.erase(api::uid_of(*before));
  work_.set();
}

Task<void> VolumeKeeper::run() {
  while (true) {
    if (!co_await work_.wait()) co_return;
    work_.reset();
    for (const ObjectPtr& claim : all(api::persistent_volume_claims())) look_at_claim(claim);
    for (const ObjectPtr& volume : all(api::persistent_volumes())) look_at_volume(volume);
    const auto kept = co_await core_.kept();
    if (!kept) co_return;
    if (*kept == Core::Kept::TakenBack) work_.set();
  }
}

// --- claims

void VolumeKeeper::look_at_claim(const ObjectPtr& claim) {
  if (api::is_deleting(*claim)) return look_at_deleted_claim(claim);
  const std::string& phase = (*claim)["status"]["phase"].as_string();
  if (phase != "Bound") return bind_or_provide(claim);
  const ObjectPtr volume = volume_named((*claim)["spec"]["volumeName"].as_string());
  if (volume != nullptr && belongs_to(*volume, *claim)) return;
  set_phase(claim, "Lost");
  tell(claim, api::EventSeverity::Warning, "ClaimLost",
       "Bound claim has lost its PersistentVolume. Data on the volume is lost!");
}

void VolumeKeeper::look_at_deleted_claim(const ObjectPtr& claim) {
  if (!has_finalizer(*claim, kClaimProtection)) return;
  // Pods that have no node yet wait for the claim, not it for them: nothing places them any more.
  auto placed = all(api::pods());
  std::erase_if(placed, [](const ObjectPtr& pod) { return api::node_name_of(*pod).empty(); });
  if (is_used(*claim, placed)) {
    return tell(claim, api::EventSeverity::Normal, "ClaimInUse",
                "The claim goes when the last pod that uses it is over.");
  }
  store(claim, without_finalizer(*claim, kClaimProtection));
}

void VolumeKeeper::bind_or_provide(const ObjectPtr& claim) {
  const auto waits = [&](const std::string& why) {
    tell(claim, api::EventSeverity::Normal, "FailedBinding", why);
  };
  const std::string& wanted = (*claim)["spec"]["volumeName"].as_string();
  if (!wanted.empty()) {
    const ObjectPtr volume = volume_named(wanted);
    if (volume == nullptr) return waits(fmt::format("volume \"{}\" does not exist yet", wanted));
    if (const auto why = obstacle(*claim, *volume)) return waits(*why);
    return bind(claim, volume);
  }
  if (const auto volume = find_volume(*claim, all(api::persistent_volumes())))
    return bind(claim, volume);
  if ((*claim)["spec"]["storageClassName"].as_string().empty())
    return waits("no persistent volumes available for this claim and no storage class is set");
  provide(claim);
}

void VolumeKeeper::bind(const ObjectPtr& claim, const ObjectPtr& volume) {
  store(volume, bound_volume(*volume, *claim));
  store(claim, bound_claim(*claim, *volume));
}

void VolumeKeeper::provide(const ObjectPtr& claim) {
  const auto cannot = [&](const std::string& why) {
    tell(claim, api::EventSeverity::Warning, "ProvisioningFailed", why);
  };
  const std::string& name = (*claim)["spec"]["storageClassName"].as_string();
  const ObjectPtr storage_class =
      core_.journal_.table(api::storage_classes()).find_head({.ns = "", .name = name});
  if (storage_class == nullptr)
    return cannot(fmt::format("storageclass.storage.k8s.io \"{}\" not found", name));
  const std::string& provisioner = (*storage_class)["provisioner"].as_string();
  if (provisioner != kProvisioner || directories_ == nullptr) {
    return cannot(fmt::format(
        "no volume fits, and nothing here makes volumes of class \"{}\" (provisioner {}); classes "
        "of provisioner {} are made here",
        name, provisioner, kProvisioner));
  }
  if ((*claim)["spec"]["selector"].is_object())
    return cannot("no volume fits the selector, and volumes that are made for claims have none");
  const bool waits = (*storage_class)["volumeBindingMode"].as_string() == "WaitForFirstConsumer";
  if (waits && !is_used(*claim, all(api::pods()))) {
    return tell(claim, api::EventSeverity::Normal, "WaitForFirstConsumer",
                "waiting for first consumer to be created before binding");
  }
  if (busy_.insert(api::uid_of(*claim)).second) scope_.spawn(make_volume(claim, storage_class));
}

Task<void> VolumeKeeper::make_volume(ObjectPtr claim, ObjectPtr storage_class) {
  const auto made = co_await make_for(claim, storage_class);
  if (scope_.stopping()) co_return;
  if (!made) {
    tell(claim, api::EventSeverity::Warning, "ProvisioningFailed",
         fmt::format("failed to provision volume with StorageClass \"{}\": {}",
                     api::name_of(*storage_class), made.error().message));
    [[maybe_unused]] const auto slept = co_await rt::sleep_for(core_.loop_, kRetry);
  }
  busy_.erase(api::uid_of(*claim));
  work_.set();
}

// Directory and volume of a claim; the directory goes again when the claim went meanwhile.
Task<Result<void>> VolumeKeeper::make_for(ObjectPtr claim, ObjectPtr storage_class) {
  std::string root = (*storage_class)["parameters"]["path"].as_string();
  if (root.empty()) root = directories_->root();
  const auto directory = provisioned_directory(*claim, root);
  CO_TRY(co_await directories_->make(directory));
  const auto now =
      core_.journal_.table(api::persistent_volume_claims()).find_head(api::key_of(*claim));
  if (now == nullptr || api::uid_of(*now) != api::uid_of(*claim))
    co_return co_await directories_->remove(directory);
  const auto volume =
      core_.create_now(*core_.kinds_.find(api::persistent_volumes()),
                       provisioned_volume(*claim, *storage_class, directory), Mode::Store);
  if (!volume) co_return fail(volume.error());
  tell(claim, api::EventSeverity::Normal, "ProvisioningSucceeded",
       fmt::format("Successfully provisioned volume {}", api::name_of(**volume)));
  co_return Result<void>{};
}

// --- volumes

bool VolumeKeeper::has_claim(const json::Value& volume) const {
  const json::Value& reference = volume["spec"]["claimRef"];
  const ObjectPtr claim = core_.journal_.table(api::persistent_volume_claims())
                              .find_head({.ns = reference["namespace"].as_string(),
                                          .name = reference["name"].as_string()});
  return claim != nullptr && belongs_to(volume, *claim);
}

void VolumeKeeper::look_at_volume(const ObjectPtr& volume) {
  const json::Value& reference = (*volume)["spec"]["claimRef"];
  const bool was_bound = !reference["uid"].as_string().empty();
  const bool claimed = was_bound && has_claim(*volume);
  if (was_bound && !claimed) return give_back(volume);
  if (api::is_deleting(*volume)) {
    if (!claimed && has_finalizer(*volume, kVolumeProtection))
      store(volume, without_finalizer(*volume, kVolumeProtection));
    return;
  }
  if (!was_bound) set_phase(volume, "Available");
}

void VolumeKeeper::give_back(const ObjectPtr& volume) {
  const bool deletes = (*volume)["spec"]["persistentVolumeReclaimPolicy"].as_string() == "Delete";
  if (!deletes || api::is_deleting(*volume)) {
    if (api::is_deleting(*volume))
      return store(volume, without_finalizer(*volume, kVolumeProtection));
    return set_phase(volume, "Released");
  }
  const auto directory = own_directory(*volume);
  if (!directory || directories_ == nullptr) {
    const std::string why =
        "Only directories that were made for a claim are removed; this one and its "
        "PersistentVolume are yours to delete.";
    set_phase(volume, "Failed", why);
    return tell(volume, api::EventSeverity::Warning, "VolumeFailedDelete", why);
  }
  if ((*volume)["status"]["phase"].as_string() != "Failed") set_phase(volume, "Released");
  const ObjectPtr now = volume_named(api::name_of(*volume));
  if (busy_.insert(api::uid_of(*volume)).second) scope_.spawn(remove_volume(now, *directory));
}

Task<void> VolumeKeeper::remove_volume(ObjectPtr volume, std::string directory) {
  const auto removed = co_await directories_->remove(directory);
  if (scope_.stopping()) co_return;
  const ObjectPtr now = volume_named(api::name_of(*volume));
  const bool same = now != nullptr && api::uid_of(*now) == api::uid_of(*volume);
  if (same && removed) {
    core_.store_removal(core_.journal_.table(api::persistent_volumes()), *now, Mode::Store);
  } else if (same) {
    set_phase(now, "Failed", removed.error().message);
    tell(now, api::EventSeverity::Warning, "VolumeFailedDelete", removed.error().message);
    [[maybe_unused]] const auto slept = co_await rt::sleep_for(core_.loop_, kRetry);
  }
  busy_.erase(api::uid_of(*volume));
  work_.set();
}

// --- objects

void VolumeKeeper::tell(const ObjectPtr& about, api::EventSeverity severity, const char* reason,
                        const std::string& message) {
  if (std::exchange(told_[api::uid_of(*about)], message) == message) return;
  auto event = api::make_event({.about = api::ObjectReference::of(*about),
                                .severity = severity,
                                .reason = reason,
                                .message = message,
                                .component = "persistentvolume-controller"},
                               core_.loop_.now(), core_.rng_);
  [[maybe_unused]] const auto made =
      core_.create_now(*core_.kinds_.find(api::events()), std::move(event), Mode::Store);
}

void VolumeKeeper::set_phase(const ObjectPtr& object, const char* phase,
                             const std::string& message) {
  json::Value changed = *object;
  changed["status"]["phase"] = phase;
  if (!message.empty()) {
    changed["status"]["message"] = message;
  } else {
    changed["status"].object().erase("message");
  }
  store(object, std::move(changed));
}

void VolumeKeeper::store(const ObjectPtr& old, json::Value changed) {
  core_.store_change(table_of(*old), old, std::move(changed), Mode::Store);
}

Table& VolumeKeeper::table_of(const json::Value& object) const {
  return core_.journal_.table(api::namespace_of(object).empty() ? api::persistent_volumes()
                                                                : api::persistent_volume_claims());
}

std::vector<ObjectPtr> VolumeKeeper::all(const api::Resource& resource) const {
  std::vector<ObjectPtr> out;
  for (const auto& [key, object] : core_.journal_.table(resource).head()) out.push_back(object);
  return out;
}

ObjectPtr VolumeKeeper::volume_named(const std::string& name) const {
  return core_.journal_.table(api::persistent_volumes()).find_head({.ns = "", .name = name});
}

}  // namespace muster::server
