#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "node/agent/gpus.h"
#include "node/pod/container/downward.h"
#include "node/pod/container/references.h"
#include "node/pod/service_applier.h"
#include "node/pod/subject.h"
#include "node/volumes/volumes.h"
#include "rt/task.h"
#include "rt/wait.h"

namespace muster::node {

// What all containers of a pod share and must find: GPUs, sandbox, ConfigMaps and Secrets, tokens,
// volumes. A part of a worker: its tasks run in the subject's scope. Work on the pod's volumes is
// done one at a time, in order, and none after clear().
class PodPreparation {
 public:
  explicit PodPreparation(PodSubject& subject);

  // From the start, which is how every retry begins: each part is idempotent. Tells the subject
  // how it ended.
  void begin() { subject_.scope.spawn(run()); }
  // Volumes that follow what they were made from are made again; what is missing meanwhile keeps
  // its old content.
  void refresh() { subject_.scope.spawn(refresh_volumes()); }
  void services_changed() { services_.look(); }

  [[nodiscard]] const std::set<Reference>& references() const { return references_; }
  // How often one of them changed: who read them before that may know less.
  void references_changed() { ++reference_changes_; }
  [[nodiscard]] std::uint64_t reference_changes() const { return reference_changes_; }
  // What the runtime is to be asked for; makes the directories that subPath names.
  Task<Result<ContainerSpec>> container(std::string name, int attempt);

  // What the containers wrote into volumes of the pod's own goes; they are dead, or dying.
  Task<void> empty_volumes();
  [[nodiscard]] bool holds_gpus() const { return !gpus_.empty(); }
  // Volumes and GPUs go, for good.
  Task<void> clear();

 private:
  Task<void> run();
  Task<Result<void>> prepare();
  void tell_declined();
  Result<void> assign_gpus();
  Task<Result<void>> make_sandbox();
  Task<Result<void>> mount();
  Task<Result<void>> fetch_tokens();
  Task<Result<void>> fetch_claimed();
  Task<void> refresh_tokens();
  Task<void> refresh_volumes();
  Task<Result<void>> write_volumes(VolumeWork::Which which);
  [[nodiscard]] VolumeWork volume_work(VolumeWork::Which which) const;
  [[nodiscard]] ReferencedObjects referenced_objects() const;
  [[nodiscard]] Place place() const;
  [[nodiscard]] std::vector<std::string> gpus_of(const std::string& container) const;

  PodSubject& subject_;
  std::set<Reference> references_;
  std::uint64_t reference_changes_ = 0;
  VolumeSources volumes_;
  VolumeTokens tokens_;
  ClaimedVolumes claimed_;
  std::optional<Time> refresh_tokens_at_;
  bool refreshing_tokens_ = false;
  GpuAllocator::ByContainer gpus_;
  bool told_declared_ = false;
  bool told_declined_ = false;
  ServiceApplier services_;
  rt::Gate volumes_turn_;
  bool cleared_ = false;
};

}  // namespace muster::node
