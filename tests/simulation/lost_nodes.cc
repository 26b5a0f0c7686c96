// What the model cluster does about nodes that cannot be reached.
#include <numeric>

#include "api/object.h"
#include "api/pod.h"
#include "model_kubelet.h"
#include "rt/wait.h"

namespace muster::simulation {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::size_t kNodes = 3;
constexpr Duration kNoticed = seconds(40);     // until the node counts as not ready
constexpr Duration kTolerated = seconds(300);  // until its pods are told to go

std::string node_name(std::size_t number) {
  return fmt::format("node-{}", number % kNodes + 1);
}

json::Value condition(const char* type, const char* status, const char* reason) {
  return json::Object{{"type", type}, {"status", status}, {"reason", reason}};
}

}  // namespace

// Where a rank goes depends on nothing but the rank, as long as that node is there.
std::string ModelKubelet::node_for(const Pod& pod) const {
  const std::string& rank = pod.process.rank;
  const std::size_t first = std::accumulate(rank.begin(), rank.end(), std::size_t{0});
  for (std::size_t next = 0; next < kNodes; ++next) {
    if (!away_.contains(node_name(first + next))) return node_name(first + next);
  }
  return node_name(first);
}

std::vector<std::string> ModelKubelet::pods_on(const std::string& node) const {
  std::vector<std::string> found;
  for (const auto& [uid, pod] : pods_) {
    if (pod.node == node) found.push_back(uid);
  }
  return found;
}

Task<bool> ModelKubelet::reach(std::string uid) {
  while (true) {
    const Pod* pod = find(uid);
    if (pod == nullptr) co_return false;
    if (!away_.contains(pod->node)) co_return true;
    if (!co_await rt::sleep_for(loop_, milliseconds(500))) co_return false;
  }
}

Task<void> ModelKubelet::lose_node(std::size_t number, Fault::Kind how) {
  const std::string node = node_name(number);
  if (!away_.insert(node).second) co_return;
  last_action_ = loop_.monotonic();
  for (const std::string& uid : pods_on(node)) part(find(uid)->job);
  if (!co_await rt::sleep_for(loop_, kNoticed)) co_return;
  for (const std::string& uid : pods_on(node)) co_await say_ready(uid, "False");
  if (how == Fault::Kind::NodeAway) {
    if (!co_await rt::sleep_for(loop_, seconds(20))) co_return;
    come_back(node);
    co_return;
  }
  if (!co_await rt::sleep_for(loop_, kTolerated)) co_return;
  for (const std::string& uid : pods_on(node)) co_await tell_to_go(uid);
  if (!co_await rt::sleep_for(loop_, seconds(60))) co_return;
  if (how == Fault::Kind::NodeEvicted) {
    come_back(node);
    co_return;
  }
  history_.note("{} is removed", node);
  for (const std::string& uid : pods_on(node)) co_await collect(uid);
}

void ModelKubelet::come_back(const std::string& node) {
  history_.note("{} is back", node);
  last_action_ = loop_.monotonic();
  away_.erase(node);
  std::set<std::string> jobs;
  for (const std::string& uid : pods_on(node)) {
    jobs.insert(find(uid)->job);
    scope_.spawn(say_ready(uid, "True"));
  }
  for (const std::string& job : jobs) begin_together(job);
}

Task<void> ModelKubelet::say_ready(std::string uid, const char* status) {
  const Pod* pod = find(uid);
  if (pod == nullptr || !pod->up || pod->stopping) co_return;
  const api::ObjectKey key = pod->key;
  co_await write_status(
      key, uid,
      json::Object{{"conditions", json::Array{condition("Ready", status, "NodeController")}}});
}

Task<void> ModelKubelet::tell_to_go(std::string uid) {
  const Pod* pod = find(uid);
  if (pod == nullptr) co_return;
  const api::ObjectKey key = pod->key;
  const auto stored = co_await cluster_.get(api::pods(), key);
  if (!stored || api::uid_of(**stored) != uid || api::is_deleting(**stored)) co_return;
  if (api::is_finished(api::phase_of(**stored))) co_return;
  checker_.taken(api::controller_uid_of(**stored));
  co_await write_status(
      key, uid,
      json::Object{{"conditions",
                    json::Array{condition("Ready", "False", "NodeController"),
                                condition("DisruptionTarget", "True", "DeletionByTaintManager")}}});
  [[maybe_unused]] const auto removed = co_await cluster_.remove(api::pods(), key, {.uid = uid});
}

// The machine is off; what it ran is over before anybody says so.
Task<void> ModelKubelet::collect(std::string uid) {
  Pod* pod = find(uid);
  if (pod == nullptr) co_return;
  if (pod->up) end(*pod, Checker::End::Killed);
  const api::ObjectKey key = pod->key;
  co_await write_status(
      key, uid,
      json::Object{
          {"phase", "Failed"},
          {"conditions", json::Array{condition("DisruptionTarget", "True", "DeletionByPodGC")}}});
  last_action_ = loop_.monotonic();
  [[maybe_unused]] const auto removed =
      co_await cluster_.remove(api::pods(), key, {.uid = uid, .grace_seconds = 0});
}

}  // namespace muster::simulation
