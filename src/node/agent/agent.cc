#include "node/agent/agent.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <string_view>

#include <fmt/format.h>

#include "api/object.h"
#include "node/linux/files.h"
#include "node/network/endpoints.h"
#include "node/network/hosts_file.h"

namespace muster::node {

namespace {

// Many changes come together (a gang starts): names and services are written once for all of them.
// Each time all pods are looked at, so the more there are, the longer it waits.
constexpr Duration kNetworkDelay = std::chrono::milliseconds(5);
constexpr Duration kNetworkDelayForEachPod = std::chrono::microseconds(100);
// Somebody waits for it before it starts.
constexpr Duration kNamesDelayForEachPod = std::chrono::microseconds(50);
constexpr Duration kRetry = std::chrono::seconds(1);

// The names in these directories; those that are not there have none.
Result<std::set<std::string>> entries_of(const std::vector<std::string>& directories) {
  std::set<std::string> out;
  for (const auto& directory : directories) {
    std::error_code error;
    for (std::filesystem::directory_iterator it(directory, error), end; !error && it != end;
         it.increment(error)) {
      out.insert(it->path().filename().string());
    }
  }
  return out;
}

Result<void> remove_empty(const std::vector<std::string>& directories) {
  for (const auto& directory : directories) ::rmdir(directory.c_str());
  return {};
}

std::vector<api::ObjectPtr> values_of(const FollowedObjects::Objects& objects) {
  std::vector<api::ObjectPtr> out;
  out.reserve(objects.size());
  for (const auto& [key, object] : objects) out.push_back(object);
  return out;
}

}  // namespace

Result<std::unique_ptr<NodeAgent>> NodeAgent::create(Parts parts, NodeOptions options) {
  std::error_code error;
  for (const char* name : {"volumes", "secrets", "hosts", "gpus"}) {
    const auto path = options.directory + "/" + name;
    std::filesystem::create_directories(path, error);
    if (error) return fail(ErrorCode::Io, fmt::format("mkdir {}: {}", path, error.message()));
  }
  if (!options.memory_directory.empty() && !linux::make_private(options.memory_directory)) {
    parts.log.warning("{} cannot be used: secrets are kept in {}", options.memory_directory,
                      options.directory);
    options.memory_directory.clear();
  }
  auto gpus = TRY(GpuAllocator::create(options.directory + "/gpus", options.gpu_uuids));
  return std::unique_ptr<NodeAgent>(
      new NodeAgent(std::move(parts), std::move(options), std::move(gpus)));
}

NodeAgent::NodeAgent(Parts parts, NodeOptions options, GpuAllocator gpus)
    : parts_(std::move(parts)),
      options_(std::move(options)),
      gpus_(std::move(gpus)),
      events_(parts_.loop, parts_.cluster, parts_.rng, options_.name, parts_.log.named("events")),
      references_(followed(), [this](const std::string& ns,
                                     const Reference& reference) { on_reference(ns, reference); }),
      registration_(parts_.loop, parts_.cluster, options_, parts_.log.named("node")),
      pods_(followed(), api::pods(), {.fields = "spec.nodeName=" + options_.name},
            [this](const auto& before, const auto& now) { on_pod(before, now); }),
      services_(followed(), api::services(), {},
                [this](const auto&, const auto&) { schedule_network(); }),
      logs_(parts_.loop, parts_.runtime),
      programs_(parts_.runtime),
      shared_{.loop = parts_.loop,
              .cluster = parts_.cluster,
              .runtime = parts_.runtime,
              .options = options_,
              .events = events_,
              .references = references_,
              .gpus = gpus_,
              .host = *this,
              .disk = *parts_.disk,
              .log = parts_.log.named("pod")},
      rules_(std::make_shared<const std::vector<ServiceRule>>()),
      keeper_(keeper_parts()),
      network_timer_(parts_.loop),
      network_updated_(parts_.loop),
      scope_(parts_.loop) {}

FollowedObjects::Parts NodeAgent::followed() {
  return {.loop = parts_.loop,
          .cluster = parts_.cluster,
          .rng = parts_.rng,
          .log = parts_.log.named("node")};
}

DiskKeeper::Parts NodeAgent::keeper_parts() {
  return {
      .loop = parts_.loop,
      .runtime = parts_.runtime,
      .disk = *parts_.disk,
      .places = {.disk = volumes_directory(options_), .memory = secrets_directory(options_)},
      .pods =
          [this] {
            std::vector<api::ObjectPtr> out;
            for (const auto& [uid, worker] : workers_) {
              if (worker->takes_room()) out.push_back(worker->view());
            }
            return out;
          },
      .evict =
          [this](const std::string& uid, Eviction why) {
            const auto found = workers_.find(uid);
            if (found == workers_.end()) return;
            found->second->evict({.message = std::move(why.message), .disruption = why.for_node});
          },
      .told = [this](bool full) { registration_.set_disk_pressure(full); }};
}

Task<Result<void>> NodeAgent::start() {
  auto found = CO_TRY(co_await parts_.runtime.adopt());
  for (auto& sandbox : found) adopted_[sandbox.sandbox.pod_uid] = std::move(sandbox);
  CO_TRY(co_await registration_.register_node());
  registration_.start();
  events_.start();
  services_.start();
  pods_.start();
  CO_TRY(co_await services_.wait_synced());
  CO_TRY(co_await pods_.wait_synced());

  update_network();
  running_ = true;
  for (const auto& [key, pod] : pods_.objects()) {
    if (needs_worker(*pod)) add_worker(pod);
  }
  keeper_.start();
  removing_orphans_ = true;
  scope_.spawn(remove_orphans(co_await find_orphans()));
  co_return Result<void>{};
}

// What is here of pods that nobody looks after: they were deleted, or ended, while nobody was here.
Task<std::set<std::string>> NodeAgent::find_orphans() {
  std::set<std::string> orphans;
  for (const auto& [uid, sandbox] : std::exchange(adopted_, {})) orphans.insert(uid);
  for (const auto& uid : gpus_.holders()) orphans.insert(uid);
  const std::vector places{volumes_directory(options_), secrets_directory(options_)};
  const auto found = co_await parts_.disk->run([places] { return entries_of(places); });
  if (found) orphans.insert(found->begin(), found->end());
  std::erase_if(orphans, [this](const std::string& uid) { return workers_.contains(uid); });
  co_return orphans;
}

// A home keeps the finished pods of every job that it ran: those that have nothing here any more
// need nobody.
bool NodeAgent::needs_worker(const json::Value& pod) const {
  return !api::is_finished(api::phase_of(pod)) || api::is_deleting(pod) ||
         adopted_.contains(api::uid_of(pod));
}

Task<void> NodeAgent::close() {
  running_ = false;
  network_timer_.cancel();
  co_await pods_.close();
  co_await services_.close();
  co_await keeper_.close();
  co_await scope_.close();
  for (auto& [uid, worker] : workers_) co_await worker->close();
  workers_.clear();
  // Only if nothing is left in it: pods may outlive us.
  if (!options_.memory_directory.empty()) {
    const std::vector places{secrets_directory(options_), options_.memory_directory};
    [[maybe_unused]] const auto removed =
        co_await parts_.disk->run([places] { return remove_empty(places); });
  }
  co_await references_.close();
  co_await registration_.close();
  co_await events_.close();
}

Task<void> NodeAgent::settle(Duration limit) {
  const Monotonic latest = parts_.loop.monotonic() + limit;
  const auto clearing = [](const auto& entry) { return entry.second->is_clearing(); };
  const auto busy = [&] { return removing_orphans_ || std::ranges::any_of(workers_, clearing); };
  while (busy() && parts_.loop.monotonic() < latest) {
    if (!co_await rt::sleep_for(parts_.loop, std::chrono::milliseconds(2))) co_return;
  }
}

Task<void> NodeAgent::remove_orphans(std::set<std::string> uids) {
  for (const auto& uid : uids) {
    while (!scope_.stopping()) {
      const auto removed = co_await parts_.runtime.remove_sandbox(uid);
      if (removed) break;
      parts_.log.warning("removing what is left of pod {}: {}", uid, removed.error().message);
      [[maybe_unused]] const auto slept = co_await rt::sleep_for(parts_.loop, kRetry);
    }
    co_await remove_files_of(uid);
  }
  removing_orphans_ = false;
  if (!uids.empty()) gpus_released();
}

Task<void> NodeAgent::remove_files_of(std::string uid) {
  const std::vector paths{volumes_directory(options_) + "/" + uid,
                          secrets_directory(options_) + "/" + uid, gpus_.record_of(uid)};
  const auto removed = co_await parts_.disk->run([paths] { return remove_trees(paths); });
  if (!removed) parts_.log.warning("{}", removed.error().message);
  gpus_.forget(uid);
}

void NodeAgent::add_worker(const api::ObjectPtr& pod) {
  const auto& uid = api::uid_of(*pod);
  if (workers_.contains(uid)) return;
  std::optional<AdoptedSandbox> adopted;
  if (auto node = adopted_.extract(uid)) adopted = std::move(node.mapped());
  auto& worker = workers_[uid];
  worker = std::make_unique<PodWorker>(shared_, pod, std::move(adopted));
  worker->start();
}

void NodeAgent::on_pod(const api::ObjectPtr& before, const api::ObjectPtr& now) {
  if (!running_) return;
  const bool replaced = before && (!now || api::uid_of(*before) != api::uid_of(*now));
  if (replaced) {
    const auto& uid = api::uid_of(*before);
    const auto found = workers_.find(uid);
    if (found != workers_.end()) {
      found->second->vanish();
      if (found->second->done()) scope_.spawn(reap(uid));
    }
  }
  if (!now) return;
  const auto found = workers_.find(api::uid_of(*now));
  if (found != workers_.end()) {
    found->second->observe(now);
  } else if (needs_worker(*now)) {
    add_worker(now);
  }
}

// Kept until the API has forgotten the pod too: a late event must not make it begin anew.
void NodeAgent::pod_done(const std::string& uid) {
  const auto found = workers_.find(uid);
  if (found != workers_.end() && found->second->vanished()) scope_.spawn(reap(uid));
  schedule_network();
}

// A home keeps the finished pods of every job that it ran; their workers would be most of what it
// has in memory. Who deletes such a pod gets a new worker for it, as after a restart. What we know
// of a pod only gets newer, so that no late event makes it begin anew.
Task<void> NodeAgent::dismiss(std::string uid) {
  const auto found = workers_.find(uid);
  if (found == workers_.end() || !found->second->rests()) co_return;
  const auto known = pods_.find(api::key_of(*found->second->view()));
  if (known && api::uid_of(*known) == uid && !needs_worker(*known)) co_await reap(std::move(uid));
}

Task<void> NodeAgent::reap(std::string uid) {
  const auto found = workers_.find(uid);
  if (found == workers_.end()) co_return;
  const auto worker = std::move(found->second);
  workers_.erase(found);
  co_await worker->close();
}

void NodeAgent::on_reference(const std::string& ns, const Reference& reference) {
  for (const auto& [uid, worker] : workers_) {
    if (api::namespace_of(*worker->view()) == ns) worker->references_changed(reference);
  }
}

void NodeAgent::gpus_released() {
  for (const auto& [uid, worker] : workers_) worker->poke();
}

std::vector<api::ObjectPtr> NodeAgent::services() const {
  return values_of(services_.objects());
}

// Those that can be reached, or may be in a moment.
std::vector<Peer> NodeAgent::peers() const {
  // So that the files do not change with the order of uids.
  std::multimap<std::pair<std::string_view, std::string_view>, Peer> by_name;
  for (const auto& [uid, worker] : workers_) {
    if (worker->vanished() || worker->reach().finished) continue;
    Peer peer = worker->as_peer();
    const auto name = std::pair(std::string_view(api::namespace_of(*peer.pod)),
                                std::string_view(api::name_of(*peer.pod)));
    by_name.emplace(name, std::move(peer));
  }
  std::vector<Peer> out;
  out.reserve(by_name.size());
  for (auto& [name, peer] : by_name) out.push_back(std::move(peer));
  return out;
}

api::ObjectPtr NodeAgent::find_pod(const api::ObjectKey& key) const {
  const auto known = pods_.find(key);
  const auto worker = known ? workers_.find(api::uid_of(*known)) : workers_.end();
  return worker == workers_.end() ? known : worker->second->view();
}

std::string NodeAgent::hosts_path(const std::string& ns) const {
  return options_.directory + "/hosts/" + ns;
}

Result<std::string> NodeAgent::hosts_file(const std::string& ns) {
  const auto path = hosts_path(ns);
  if (!hosts_.contains(ns)) {
    auto text = render_hosts(ns, peers(), services(), options_.cluster_domain, options_.host_name);
    TRY(rewrite_in_place(path, text));
    hosts_[ns] = std::move(text);
  }
  return path;
}

void NodeAgent::schedule_network() {
  update_network_within(kNetworkDelay + kNetworkDelayForEachPod * workers_.size());
}

void NodeAgent::update_network_within(Duration delay) {
  if (!running_) return;
  const auto due = parts_.loop.monotonic() + delay;
  if (network_timer_.active() && network_due_ <= due) return;
  network_due_ = due;
  network_timer_.start(delay, [this] { update_network(); });
}

Task<Result<void>> NodeAgent::publish_names() {
  update_network_within(kNamesDelayForEachPod * workers_.size());
  co_return co_await network_updated_.wait();
}

void NodeAgent::update_network() {
  network_updated_.pulse();
  const auto pods = peers();
  const auto all = services();
  for (auto& [ns, before] : hosts_) {
    auto text = render_hosts(ns, pods, all, options_.cluster_domain, options_.host_name);
    if (text == before) continue;
    const auto written = rewrite_in_place(hosts_path(ns), text);
    if (!written) {
      parts_.log.warning("{}", written.error().message);
      continue;
    }
    before = std::move(text);
  }
  auto rules = node::service_rules(all, pods, options_.api);
  if (rules == *rules_) return;
  rules_ = std::make_shared<const std::vector<ServiceRule>>(std::move(rules));
  for (const auto& [uid, worker] : workers_) worker->services_changed();
}

}  // namespace muster::node
