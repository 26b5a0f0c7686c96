#include <fmt/format.h>

#include "node/linux/files.h"
#include "node/linux/netlink.h"
#include "node/runtime/linux_runtime.h"
#include "node/runtime/log_places.h"
#include "node/runtime/unknown_pod.h"
#include "node/shim/records.h"

// What LinuxRuntime finds of earlier Musters.
namespace muster::node {

namespace {

using namespace std::chrono_literals;

// A set-up takes milliseconds; a machine that needs this long is out of order.
constexpr Duration kSetUpLimit = 30s;
// A shim that listens answers at once, unless somebody stopped it.
constexpr Duration kAnswerLimit = 10s;

}  // namespace

void LinuxRuntime::know(const FoundPod& pod) {
  auto& known = pods_[pod.uid];
  known.directory = pod.directory;
  known.record = pod.record;
  known.shim_version = pod.shim_version;
  known.unknown = !pod.unknown.empty();
  if (known.record.link.empty()) known.record.link = link_of(pod.uid);
  // Somebody may have emptied the memory under a machine that runs: what is alive all the same ends
  // before it is taken for lost.
  if (known.record.address.empty()) known.record.cgroups = cgroups_;
  network_.take(pod.record.address);
}

Task<Result<std::vector<AdoptedSandbox>>> LinuxRuntime::adopt() {
  auto found = CO_TRY(co_await off_loop([places = PodPlaces{.state = state_directory(home_key_),
                                                            .layers = options_.home + "/pods",
                                                            .logs = logs_directory(options_.home)},
                                         nursery = nursery_] {
    nursery->get_ready();
    return Result<std::vector<FoundPod>>(find_pods(places));
  }));
  for (const auto& pod : found) know(pod);
  CO_TRY(co_await sweep_shm());
  std::vector<AdoptedSandbox> adopted;
  for (auto& pod : found) adopted.push_back(CO_TRY(co_await adopt_one(std::move(pod))));
  co_return adopted;
}

Task<Result<AdoptedSandbox>> LinuxRuntime::adopt_one(FoundPod pod) {
  const auto& record = pod.record;
  AdoptedSandbox adopted{
      .sandbox = {.pod_uid = pod.uid, .address = record.address, .gateway = record.gateway},
      .pod_namespace = record.spec.pod_namespace,
      .pod_name = record.spec.pod_name};
  const auto unknown = [&](const std::string& why) {
    adopted.unknown = fmt::format(
        "Nothing can be said of the pod in {}, which may be running: {}; delete the pod to end it",
        pod_directory(pod.uid), why);
    options_.logger.warning("pod {}: {}", pod.uid, adopted.unknown);
    return adopted;
  };
  if (!pod.unknown.empty()) {
    co_await look_at_unknown(pod.uid);
    co_return unknown(pod.unknown);
  }
  if (pod.locked) {
    auto containers = co_await list_containers(pod.uid);
    if (containers) {
      adopted.alive = true;
      adopted.containers = std::move(*containers);
      co_return adopted;
    }
    const auto& error = containers.error();
    if (error.code == ErrorCode::Cancelled) co_return fail(error);
    if (error.code != ErrorCode::Gone) co_return unknown(error.message);
  }
  if (const auto buried = co_await bury_pod(pod.uid); !buried) {
    if (buried.error().code == ErrorCode::Cancelled) co_return fail(buried.error());
    co_return unknown(buried.error().message);
  }
  adopted.containers =
      CO_TRY(co_await off_loop([directory = pod_directory(pod.uid), logs = record.log_directory] {
        return Result<std::vector<AdoptedContainer>>(shim::read_containers(directory, logs));
      }));
  co_return adopted;
}

Task<Result<std::vector<AdoptedContainer>>> LinuxRuntime::list_containers(std::string pod_uid) {
  for (auto left = kSetUpLimit; left > 0ns; left -= 10ms) {
    auto listed = ask(pod_uid, shim::request(shim::Operation::List).bytes());
    auto answer = co_await rt::with_timeout(loop_, kAnswerLimit, std::move(listed));
    if (answer) {
      shim::Reader in(*answer);
      std::vector<AdoptedContainer> containers;
      shim::read_all(in, containers);
      if (in.finished()) co_return containers;
      co_return fail(ErrorCode::Parse, "its list of containers cannot be read");
    }
    if (answer.error().code != ErrorCode::Gone) co_return fail(answer.error().in("its shim"));
    const auto lock = CO_TRY(lock_pod(pod_directory(pod_uid)));
    if (lock.valid()) co_return fail(ErrorCode::Gone, "its shim is dead");
    CO_TRY(co_await rt::sleep_for(loop_, 10ms));
  }
  co_return fail(ErrorCode::Timeout, "its shim does not answer");
}

// Nobody else may get its address.
Task<void> LinuxRuntime::look_at_unknown(std::string pod_uid) {
  const auto found = co_await off_loop([directory = pod_directory(pod_uid)] {
    std::vector<std::uint32_t> addresses;
    for (const auto& shim : find_shims(directory)) {
      for (const auto address : addresses_of(shim)) addresses.push_back(address);
    }
    return Result<std::vector<std::uint32_t>>(std::move(addresses));
  });
  if (!found) co_return;
  for (const auto address : *found) {
    const auto text = linux::format_address(address);
    if (network_.take(text)) pods_[pod_uid].record.address = text;
  }
}

}  // namespace muster::node
