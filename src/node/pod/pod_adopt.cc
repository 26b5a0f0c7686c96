#include "api/object.h"
#include "node/pod/pod_worker.h"

namespace muster::node {

namespace {

Ending lost(int attempt, Time now) {
  return {.attempt = attempt,
          .exit_code = 137,
          .reason = "ContainerStatusUnknown",
          .message = "The container could not be located after a restart of the node agent",
          .started = now,
          .finished = now};
}

}  // namespace

// The runtime knows better than the API what ran last; the API knows what ended before that.
void PodWorker::adopt(const AdoptedSandbox& adopted) {
  record_.sandbox = adopted.alive;
  record_.pod_ip = adopted.sandbox.address;
  for (const auto& found : adopted.containers) {
    auto* container = record_.find(found.name);
    if (container == nullptr || found.attempt < container->attempt) continue;
    const bool api_has_its_end =
        found.attempt == container->attempt && container->ending() != nullptr;
    if (api_has_its_end) continue;
    // Attempts come in order: the one before becomes the last state.
    if (const auto* before = container->ending()) container->last = *before;
    container->attempt = found.attempt;
    container->seen_running = false;
    container->state = Running{.started = found.start.started};
    if (found.exit) {
      ended(*container, found.attempt, *found.exit);
      continue;
    }
    const auto* spec = spec_of(found.name);
    const auto& status = api::container_status(*pod_, found.name);
    container->startup_passed = !probe_of(*spec, ProbeKind::Startup) || status["started"].as_bool();
    container->ready = !probe_of(*spec, ProbeKind::Readiness) || status["ready"].as_bool();
    start_probes(*container);
    scope_.spawn(watch_container(found.name, found.attempt));
  }
}

// What the API saw running and the runtime does not know is gone, and must not begin again as if it
// had never been there.
void PodWorker::mark_lost() {
  for (auto& container : record_.containers) {
    if (!container.seen_running) continue;
    container.seen_running = false;
    record_ending(container, lost(container.attempt, now()));
  }
}

}  // namespace muster::node
