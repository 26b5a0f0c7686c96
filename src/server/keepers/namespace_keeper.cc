#include "server/keepers/namespace_keeper.h"

#include "api/object.h"
#include "server/core.h"

namespace muster::server {
namespace {

constexpr Duration kRetry = std::chrono::seconds(1);

}  // namespace

NamespaceKeeper::NamespaceKeeper(Core& core) : core_(core), work_(core.loop_), scope_(core.loop_) {
  for (const auto& [key, object] : core_.journal_.table(api::namespaces()).head()) {
    if (api::is_deleting(*object)) terminating_.insert(key.name);
    bare_.insert(key.name);
  }
  work_.set();
}

void NamespaceKeeper::start() {
  scope_.spawn(run());
}

void NamespaceKeeper::note(Table& table, const ObjectPtr& before, const ObjectPtr& after) {
  const Kind& kind = table.kind();
  if (kind.is(api::namespaces()) && after != nullptr && api::is_deleting(*after)) {
    terminating_.insert(api::name_of(*after));
    work_.set();
    return;
  }
  if (after != nullptr || !kind.resource.namespaced()) return;
  const std::string& ns = api::namespace_of(*before);
  if (kind.is(api::service_accounts()) || kind.is(api::config_maps())) bare_.insert(ns);
  if (terminating_.contains(ns) || bare_.contains(ns)) work_.set();
}

Task<void> NamespaceKeeper::run() {
  while (true) {
    if (!co_await work_.wait()) co_return;
    work_.reset();
    const std::set<std::string> names = terminating_;  // advance() takes finished ones out
    for (const std::string& name : names) advance(name);
    std::set<std::string> bare = std::exchange(bare_, {});
    for (const std::string& name : bare) refurnish(name);
    const auto kept = co_await core_.kept();
    if (!kept) co_return;
    const bool refused = core_.journal_.is_low() && !bare.empty();
    if (*kept == Core::Kept::Durable && !refused) continue;
    if (refused && !co_await rt::sleep_for(core_.loop_, kRetry)) co_return;
    bare_.merge(bare);
    work_.set();
  }
}

void NamespaceKeeper::advance(const std::string& name) {
  Table& namespaces = core_.journal_.table(api::namespaces());
  const ObjectPtr object = namespaces.find_head({.ns = "", .name = name});
  if (object == nullptr) {
    terminating_.erase(name);
    return;
  }
  if (!empty(core_.journal_.table(api::pods()), name)) return;
  bool all = true;
  for (const auto& table : core_.journal_.tables()) {
    if (table->kind().resource.namespaced() && !empty(*table, name)) all = false;
  }
  if (!all || !(*object)["metadata"]["finalizers"].as_array().empty()) return;
  terminating_.erase(name);
  json::Value last = *object;
  last["spec"].object().erase("finalizers");
  core_.store_removal(namespaces, std::move(last), Mode::Store);
}

bool NamespaceKeeper::empty(Table& table, const std::string& name) {
  std::vector<ObjectPtr> found;
  for (auto at = table.head().lower_bound({.ns = name, .name = ""});
       at != table.head().end() && at->first.ns == name; ++at) {
    found.push_back(at->second);
  }
  for (const ObjectPtr& object : found) {
    if (api::is_deleting(*object)) continue;
    [[maybe_unused]] const auto removed = core_.remove_now(
        table.kind(), api::key_of(*object), {.uid = api::uid_of(*object)}, Mode::Store);
  }
  const auto left = table.head().lower_bound({.ns = name, .name = ""});
  return left == table.head().end() || left->first.ns != name;
}

void NamespaceKeeper::refurnish(const std::string& name) {
  const ObjectPtr object =
      core_.journal_.table(api::namespaces()).find_head({.ns = "", .name = name});
  if (object != nullptr && !api::is_deleting(*object)) core_.furnish_namespace(name);
}

}  // namespace muster::server
