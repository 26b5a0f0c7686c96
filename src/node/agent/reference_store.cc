#include "node/agent/reference_store.h"

namespace muster::node {

namespace {

const api::Resource& resource_of(ReferenceKind kind) {
  return kind == ReferenceKind::ConfigMap ? api::config_maps() : api::secrets();
}

}  // namespace

void ReferenceStore::acquire(const std::string& ns, const std::set<Reference>& references) {
  for (const auto& reference : references) {
    auto& entry = entries_[{ns, reference}];
    if (++entry.users > 1) continue;
    entry.copy = std::make_shared<FollowedObjects>(
        parts_, resource_of(reference.kind),
        cluster::Selection{.ns = ns, .fields = "metadata.name=" + reference.name},
        [this, ns, reference](const auto&, const auto&) { on_change_(ns, reference); });
    entry.copy->start();
  }
}

// A copy ends on its own time; whoever asks for the same object meanwhile gets a new one.
Task<void> ReferenceStore::retire(std::shared_ptr<FollowedObjects> copy) {
  co_await copy->close();
}

void ReferenceStore::release(const std::string& ns, const std::set<Reference>& references) {
  for (const auto& reference : references) {
    const auto found = entries_.find({ns, reference});
    if (found == entries_.end() || --found->second.users > 0) continue;
    scope_.spawn(retire(std::move(found->second.copy)));
    entries_.erase(found);
  }
}

Task<Result<void>> ReferenceStore::wait_known(std::string ns, std::set<Reference> references) {
  for (const auto& reference : references) {
    const auto found = entries_.find({ns, reference});
    if (found == entries_.end()) continue;
    const auto copy = found->second.copy;  // outlives a release while we wait
    CO_TRY(co_await copy->wait_synced());
  }
  co_return Result<void>{};
}

api::ObjectPtr ReferenceStore::find(const std::string& ns, const Reference& reference) const {
  const auto found = entries_.find({ns, reference});
  if (found == entries_.end()) return nullptr;
  return found->second.copy->find({.ns = ns, .name = reference.name});
}

Task<void> ReferenceStore::close() {
  for (auto& [key, entry] : std::exchange(entries_, {})) scope_.spawn(retire(entry.copy));
  co_await scope_.join();
}

}  // namespace muster::node
