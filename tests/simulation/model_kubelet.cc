#include "model_kubelet.h"

#include <algorithm>
#include <cstdlib>

#include "api/object.h"
#include "base/check.h"
#include "json/write.h"
#include "plan/plan.h"

namespace muster::simulation {
namespace {

// How long a process takes to end when it is asked to; within the default grace of 30 s.
constexpr Duration kStopTime = std::chrono::seconds(3);

json::Value container_status(const std::string& name, int restarts, json::Value state,
                             bool running) {
  return json::Object{{"name", name},
                      {"ready", running},
                      {"started", running},
                      {"restartCount", restarts},
                      {"image", "trainer"},
                      {"imageID", ""},
                      {"state", std::move(state)}};
}

json::Value running_status(const std::string& container, int restarts, const std::string& ip,
                           Time now) {
  return json::Object{
      {"phase", "Running"},
      {"podIP", ip},
      {"startTime", format_time(now)},
      {"conditions", json::Array{json::Object{{"type", "Ready"}, {"status", "True"}}}},
      {"containerStatuses",
       json::Array{container_status(
           container, restarts,
           json::Object{{"running", json::Object{{"startedAt", format_time(now)}}}}, true)}}};
}

bool asks_for_retry(int code) {
  return code == 130 || code == 137 || code == 138 || code == 143;
}

json::Value ended_status(const std::string& container, const Script::Exit& exit, Time now) {
  const int code = exit.code;
  json::Array conditions = {json::Object{{"type", "Ready"}, {"status", "False"}}};
  if (exit.disrupted) {
    conditions.push_back(json::Object{
        {"type", "DisruptionTarget"}, {"status", "True"}, {"reason", "PreemptionByScheduler"}});
  }
  json::Object terminated{{"exitCode", code},
                          {"reason", code == 0 ? "Completed" : "Error"},
                          {"finishedAt", format_time(now)}};
  if (!exit.message.empty()) terminated.set("message", exit.message);
  return json::Object{
      {"phase", code == 0 ? "Succeeded" : "Failed"},
      {"conditions", std::move(conditions)},
      {"containerStatuses",
       json::Array{container_status(container, 0,
                                    json::Object{{"terminated", std::move(terminated)}}, false)}}};
}

std::int64_t number_in(const json::Value& pod, std::string_view label) {
  return std::strtoll(api::label_of(pod, label).c_str(), nullptr, 10);
}

Process process_of(const json::Value& pod) {
  return {.job_uid = api::controller_uid_of(pod),
          .rank = api::label_of(pod, plan::labels::kRole) + "/" +
                  api::label_of(pod, plan::labels::kIndex),
          .epoch = number_in(pod, plan::labels::kEpoch),
          .attempt = number_in(pod, plan::labels::kAttempt),
          .pod_uid = api::uid_of(pod)};
}

}  // namespace

const Script::Exit* Script::exit_of(const Process& process) const {
  const std::string rank = process.rank + "#";
  std::string name = fmt::format("{}{}", rank, process.attempt);
  if (process.epoch > 0) name += fmt::format("@{}", process.epoch);
  if (process.restarts > 0) name += fmt::format("+{}", process.restarts);
  if (const auto exit = exits.find(name); exit != exits.end()) return &exit->second;
  if (!improvises || process.restarts > 0) return nullptr;
  const std::string same_try = fmt::format("{}{}", rank, process.attempt);
  const Exit* found = nullptr;
  for (const auto& [written, exit] : exits) {
    if (!written.starts_with(rank)) continue;
    if (exit.code == 0) return &exit;
    if (fails_for_good || written.starts_with(same_try)) found = &exit;
  }
  return found;
}

ModelKubelet::ModelKubelet(rt::Loop& loop, cluster::Cluster& cluster, Rng& rng,
                           std::map<std::string, Script> scripts, Checker& checker,
                           History& history)
    : loop_(loop),
      cluster_(cluster),
      rng_(rng),
      scripts_(std::move(scripts)),
      checker_(checker),
      history_(history),
      scope_(loop) {}

Task<void> ModelKubelet::run() {
  const auto stop = [this] { scope_.request_stop(); };
  const std::stop_callback linked(co_await rt::current_stop(), stop);
  const auto page = co_await cluster_.list(api::pods(), {});
  CHECK(page.has_value());
  const auto watch =
      co_await cluster_.watch(api::pods(), {.resource_version = page->resource_version});
  CHECK(watch.has_value());
  while (true) {
    const auto event = co_await (*watch)->next();
    if (!event) break;
    if (event->type != cluster::EventType::Bookmark) handle(*event);
  }
  co_await scope_.join();
}

std::size_t ModelKubelet::live(const std::string& job) const {
  const auto party = parties_.find(job);
  return party == parties_.end() ? 0 : party->second.live;
}

ModelKubelet::Pod* ModelKubelet::find(const std::string& uid) {
  const auto found = pods_.find(uid);
  return found == pods_.end() ? nullptr : &found->second;
}

void ModelKubelet::handle(const cluster::WatchEvent& event) {
  const json::Value& object = *event.object;
  const std::string& uid = api::uid_of(object);
  if (api::controller_uid_of(object).empty()) return;
  if (event.type == cluster::EventType::Deleted) {
    if (Pod* pod = find(uid); pod != nullptr && pod->up) {
      scope_.spawn(reap(uid));
    } else {
      pods_.erase(uid);
    }
    return;
  }
  const auto [entry, added] = pods_.try_emplace(uid);
  Pod& pod = entry->second;
  if (added) {
    pod.key = api::key_of(object);
    for (const api::OwnerReference& owner : api::owners_of(object)) {
      if (owner.controller) pod.job = owner.name;
    }
    pod.process = process_of(object);
    const json::Value& main = object["spec"]["containers"][0];
    pod.container = main["name"].as_string();
    pod.gate = main["envFrom"][0]["configMapRef"]["name"].as_string();
    pod.restarts_in_place = object["spec"]["restartPolicy"].as_string() == "Always";
    for (const json::Value& volume : object["spec"]["volumes"].as_array()) {
      const std::string& secret = volume["secret"]["secretName"].as_string();
      if (!secret.empty()) pod.secrets.push_back(secret);
    }
    scope_.spawn(start(uid));
  }
  if (api::is_deleting(object) && !std::exchange(pod.stopping, true)) scope_.spawn(stop(uid));
}

Task<void> ModelKubelet::start(std::string uid) {
  if (!co_await rt::sleep_for(loop_, a_moment())) co_return;
  Pod* pod = find(uid);
  if (pod == nullptr || pod->stopping) co_return;
  const std::string node = pod->node = node_for(*pod);
  if (!co_await cluster_.bind(pod->key, uid, node)) co_return;
  if (!co_await rt::sleep_for(loop_, a_moment())) co_return;
  if (!co_await reach(uid)) co_return;
  pod = find(uid);
  if (pod == nullptr || pod->stopping) co_return;
  const std::string ip = fmt::format("10.0.0.{}", ++addresses_);
  pod->ip = ip;
  if (!pod->gate.empty() && !co_await pass_gate(uid, ip)) co_return;
  if (!co_await mount_secrets(uid)) co_return;
  co_await begin_process(uid);
}

Task<void> ModelKubelet::begin_process(std::string uid) {
  Pod* pod = find(uid);
  if (pod == nullptr || pod->stopping) co_return;
  pod->up = true;
  ++parties_[pod->job].live;
  ++transitions_;
  last_action_ = loop_.monotonic();
  checker_.started(pod->process);
  const std::string job = pod->job;
  co_await report(uid, running_status(pod->container, pod->process.restarts, pod->ip, loop_.now()));
  begin_together(job);
}

// The pod has its address, and its container waits for the ConfigMap that it reads.
Task<bool> ModelKubelet::pass_gate(std::string uid, std::string ip) {
  Pod* pod = find(uid);
  const api::ObjectKey key = pod->key;
  const api::ObjectKey gate{.ns = key.ns, .name = pod->gate};
  co_await report(uid, json::Object{{"phase", "Pending"}, {"podIP", ip}});
  while (true) {
    if (!co_await rt::sleep_for(loop_, std::chrono::milliseconds(100))) co_return false;
    if (!co_await reach(uid)) co_return false;
    const auto config = co_await cluster_.get(api::config_maps(), gate);
    pod = find(uid);
    if (pod == nullptr || pod->stopping) co_return false;
    if (!config || api::is_deleting(**config)) continue;
    checker_.was_told(pod->process, ip, **config);
    co_return true;
  }
}

// A pod waits for what it mounts.
Task<bool> ModelKubelet::mount_secrets(std::string uid) {
  while (true) {
    if (!co_await reach(uid)) co_return false;
    Pod* pod = find(uid);
    if (pod == nullptr || pod->stopping) co_return false;
    const std::vector<std::string> wanted = pod->secrets;
    const std::string ns = pod->key.ns;
    std::string content;
    bool all = true;
    for (const std::string& name : wanted) {
      const auto secret = co_await cluster_.get(api::secrets(), {.ns = ns, .name = name});
      all = all && secret;
      if (secret) content += json::write((**secret)["data"]);
    }
    pod = find(uid);
    if (pod == nullptr || pod->stopping) co_return false;
    if (all && !wanted.empty()) checker_.was_given(pod->process, content);
    if (all) co_return true;
    if (!co_await rt::sleep_for(loop_, std::chrono::milliseconds(100))) co_return false;
  }
}

bool ModelKubelet::are_together(const std::string& job) {
  const Script& script = scripts_[job];
  if (script.improvises && script.alone) return true;
  return live(job) == script.ranks && std::ranges::none_of(pods_, [&](const auto& each) {
           const Pod& pod = each.second;
           return pod.job == job && pod.up && away_.contains(pod.node);
         });
}

void ModelKubelet::part(const std::string& job) {
  const Script& script = scripts_[job];
  if (!script.improvises || !script.alone) ++parties_[job].round;
}

void ModelKubelet::begin_together(const std::string& job) {
  if (!are_together(job)) return;
  const Script& script = scripts_[job];
  const std::uint64_t round = parties_[job].round;
  for (const auto& [uid, pod] : pods_) {
    if (pod.job != job || !pod.up) continue;
    const Script::Exit* exit = script.exit_of(pod.process);
    if (exit != nullptr) scope_.spawn(exit_later(uid, round, *exit));
  }
}

Task<void> ModelKubelet::exit_later(std::string uid, std::uint64_t round, Script::Exit exit) {
  if (!co_await rt::sleep_for(loop_, exit.after)) co_return;
  Pod* pod = find(uid);
  if (pod == nullptr || !pod->up || round != parties_[pod->job].round) co_return;
  end(*pod, exit.disrupted              ? Checker::End::Disrupted
            : asks_for_retry(exit.code) ? Checker::End::Retryable
                                        : Checker::End::Exited);
  if (exit.code != 0) part(pod->job);
  if (pod->restarts_in_place && !exit.disrupted) {
    scope_.spawn(restart(uid));
    co_return;
  }
  co_await report(uid, ended_status(pod->container, exit, loop_.now()));
}

// In the same pod: its phase does not change, its count does.
Task<void> ModelKubelet::restart(std::string uid) {
  if (!co_await rt::sleep_for(loop_, a_moment())) co_return;
  Pod* pod = find(uid);
  if (pod == nullptr || pod->stopping) co_return;
  ++pod->process.restarts;
  co_await begin_process(uid);
}

void ModelKubelet::end(Pod& pod, Checker::End how) {
  pod.up = false;
  ++transitions_;
  --parties_[pod.job].live;
  last_action_ = loop_.monotonic();
  checker_.ended(pod.process, how);
}

Task<void> ModelKubelet::stop(std::string uid) {
  if (!co_await reach(uid)) co_return;
  Pod* pod = find(uid);
  if (pod == nullptr) co_return;
  const bool was_up = pod->up;
  if (was_up) {
    part(pod->job);
    if (!co_await rt::sleep_for(loop_, kStopTime)) co_return;
  }
  pod = find(uid);
  if (pod == nullptr) co_return;
  if (pod->up) end(*pod, Checker::End::Killed);
  const api::ObjectKey key = pod->key;
  if (was_up) co_await report(uid, ended_status(pod->container, {.code = 143}, loop_.now()));
  last_action_ = loop_.monotonic();
  [[maybe_unused]] const auto removed =
      co_await cluster_.remove(api::pods(), key, {.uid = uid, .grace_seconds = 0});
}

Task<void> ModelKubelet::reap(std::string uid) {
  history_.note("pod {} was taken away from its process", uid);
  if (!co_await reach(uid)) co_return;
  part(find(uid)->job);
  if (!co_await rt::sleep_for(loop_, kStopTime)) co_return;
  if (Pod* pod = find(uid); pod != nullptr && pod->up) end(*pod, Checker::End::Killed);
  pods_.erase(uid);
}

// What is said later is written later, however long it took to get through.
Task<void> ModelKubelet::report(std::string uid, json::Value status) {
  const std::uint64_t number = ++find(uid)->said;
  if (!co_await reach(uid)) co_return;
  Pod* pod = find(uid);
  if (pod->written > number) co_return;
  pod->written = number;
  const api::ObjectKey key = pod->key;
  co_await write_status(key, uid, std::move(status));
}

Task<void> ModelKubelet::write_status(api::ObjectKey key, std::string uid, json::Value status) {
  last_action_ = loop_.monotonic();
  while (true) {
    const auto pod = co_await cluster_.get(api::pods(), key);
    if (!pod || api::uid_of(**pod) != uid) co_return;
    json::Value changed = **pod;
    for (const auto& [name, value] : status.as_object()) changed["status"][name] = value;
    const auto written = co_await cluster_.update_status(api::pods(), std::move(changed));
    if (written || written.error().code != ErrorCode::Conflict) co_return;
  }
}

}  // namespace muster::simulation
