#include "node/pod/subject.h"

#include "api/object.h"

namespace muster::node {

PodSubject::PodSubject(NodeServices& services, api::ObjectPtr newest,
                       std::function<void(PodEvent)> listener)
    : node(services),
      uid(api::uid_of(*newest)),
      key(api::key_of(*newest)),
      pod(std::move(newest)),
      facts(facts_of(*pod)),
      tell(std::move(listener)),
      changed(services.loop),
      scope(services.loop) {
  if (!facts.start_time) facts.start_time = now();
}

const json::Value& PodSubject::spec_of(const std::string& container) const {
  const auto& spec = (*pod)["spec"];
  if (const auto* found = api::find_named(spec["containers"], container)) return *found;
  const auto* init = api::find_named(spec["initContainers"], container);
  static const json::Value none;
  return init == nullptr ? none : *init;
}

void PodSubject::event(EventSeverity severity, std::string reason, std::string message,
                       std::string container) const {
  node.events.record(*pod, {.severity = severity,
                            .reason = std::move(reason),
                            .message = std::move(message),
                            .container = std::move(container)});
}

void PodSubject::forget() {
  facts.forgotten = true;
  facts.stopping = true;
  tell(Changed{});
}

}  // namespace muster::node
