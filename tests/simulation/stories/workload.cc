#include "workload.h"

#include <algorithm>
#include <array>

#include "api/object.h"
#include "base/check.h"
#include "plan/plan.h"
#include "plan/verdict.h"

namespace muster::simulation {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

json::Value role(int replicas, const char* restart) {
  return json::Object{
      {"replicas", replicas},
      {"restartPolicy", restart},
      {"template",
       json::Object{{"spec", json::Object{{"containers",
                                           json::Array{json::Object{
                                               {"name", "mindspore"},
                                               {"image", "trainer"},
                                               {"command", json::Array{"muster-trainer"}}}}}}}}}};
}

// A server and two workers that learn of each other from one ConfigMap; elastic: three workers.
json::Value paddle_ranks(bool elastic) {
  const auto members = [](int replicas) {
    json::Value out = role(replicas, "");
    out.object().erase("restartPolicy");
    return out;
  };
  json::Object spec{{"worker", members(elastic ? 3 : 2)}};
  spec.set(elastic ? "elastic" : "ps", elastic ? json::Value(1) : members(1));
  return json::Object{{"apiVersion", "batch.paddlepaddle.org/v1"},
                      {"kind", "PaddleJob"},
                      {"metadata", json::Object{{"name", kJob}, {"namespace", kNamespace}}},
                      {"spec", std::move(spec)}};
}

// A master and two workers, which are started again when they exit and made again when they are
// lost.
json::Value master_and_workers(int backoff_limit) {
  const auto pod = [] {
    json::Value out = role(1, "")["template"];
    out["spec"]["containers"].array()[0]["name"] = "chainer";
    return out;
  };
  return json::Object{
      {"apiVersion", "kubeflow.org/v1alpha1"},
      {"kind", "ChainerJob"},
      {"metadata", json::Object{{"name", kJob}, {"namespace", kNamespace}}},
      {"spec",
       json::Object{{"master", json::Object{{"backoffLimit", backoff_limit}, {"template", pod()}}},
                    {"workerSets",
                     json::Object{{"a", json::Object{{"replicas", 2}, {"template", pod()}}}}}}}};
}

json::Value with_policy(const char* field, std::int64_t value) {
  json::Value job = three_ranks();
  job["spec"]["runPolicy"][field] = value;
  return job;
}

// Both workers end well, ten seconds after all were up.
Script both_succeed() {
  return {.exits = {{"Worker/0#0", {seconds(10), 0}}, {"Worker/1#0", {seconds(10), 0}}}};
}

Task<void> create_and_watch(User& user, json::Value job) {
  co_await user.create(std::move(job));
  co_await user.wait_for_processes(3);
}

Task<void> create_and_wait(User& user, json::Value job) {
  co_await user.create(std::move(job));
  co_await user.wait_for_end();
}

Task<void> create_and_delete(User& user, json::Value job) {
  co_await create_and_watch(user, std::move(job));
  co_await user.pause(seconds(3));
  co_await user.remove_job();
  co_await user.wait_for_processes(0);
}

Task<void> scale(User& user, json::Value job) {
  co_await create_and_watch(user, std::move(job));
  co_await user.pause(seconds(3));
  co_await user.set_workers(3);
  co_await user.wait_for_processes(4);
  co_await user.pause(seconds(3));
  co_await user.set_workers(1);
  co_await user.wait_for_processes(2);
}

Task<void> recreate(User& user, json::Value job) {
  co_await create_and_watch(user, job);
  co_await user.pause(seconds(3));
  co_await user.remove_job();
  co_await user.create(std::move(job));
  co_await user.wait_for_processes(0);
  co_await user.wait_for_processes(3);
}

// Down and up again while the old pod is still on its way out.
Task<void> bounce(User& user, json::Value job) {
  co_await create_and_watch(user, std::move(job));
  co_await user.pause(seconds(3));
  co_await user.set_workers(1);
  co_await user.pause(milliseconds(100));
  co_await user.set_workers(2);
  co_await user.pause(seconds(10));
  co_await user.wait_for_processes(3);
}

// Held, let go while the old pods are still on their way out, held again and let go at leisure.
Task<void> suspend(User& user, json::Value job) {
  co_await create_and_watch(user, std::move(job));
  co_await user.pause(seconds(3));
  co_await user.set_suspend(true);
  co_await user.pause(seconds(1));
  co_await user.set_suspend(false);
  co_await user.pause(seconds(10));
  co_await user.wait_for_processes(3);
  co_await user.set_suspend(true);
  co_await user.wait_for_processes(0);
  co_await user.set_suspend(false);
  co_await user.wait_for_end();
}

// Up and down again at leisure; ranks that are not elastic begin again each time.
Task<void> scale_all(User& user, json::Value job) {
  co_await create_and_watch(user, std::move(job));
  co_await user.pause(seconds(3));
  co_await user.set_workers(4);
  co_await user.pause(seconds(20));
  co_await user.set_workers(2);
  co_await user.wait_for_end();
}

// Elastic ranks do not wait for the list of all; who changes their number does.
Task<void> scale_elastic(User& user, json::Value job) {
  co_await create_and_watch(user, std::move(job));
  co_await user.wait_for_hosts(3);
  co_await user.pause(seconds(3));
  co_await user.set_workers(4);
  co_await user.wait_for_processes(4);
  co_await user.wait_for_hosts(4);
  co_await user.pause(seconds(3));
  co_await user.set_workers(2);
  co_await user.wait_for_processes(2);
}

// The ConfigMap is taken away from running ranks.
Task<void> lose_config(User& user, json::Value job) {
  co_await create_and_watch(user, std::move(job));
  co_await user.pause(seconds(3));
  co_await user.remove_config();
  co_await user.wait_for_config();
}

// Somebody else has a pod of the name that we need.
Task<void> foreign(User& user, json::Value job) {
  json::Value pod = job["spec"]["msReplicaSpecs"]["Worker"]["template"];
  pod["metadata"] = json::Object{{"name", "train-worker-0"}, {"namespace", kNamespace}};
  co_await user.create_object(api::pods(), std::move(pod));
  co_await user.create(std::move(job));
  co_await user.wait_for_end();
}

// So many have to succeed, two at once; without a number they share a work queue.
json::Value two_at_once(std::optional<int> completions) {
  json::Object spec{{"parallelism", 2}, {"backoffLimit", 3}};
  if (completions) spec.set("completions", *completions);
  json::Value pod = role(1, "Never")["template"];
  pod["spec"]["restartPolicy"] = "Never";
  spec.set("template", std::move(pod));
  return json::Object{{"apiVersion", "batch/v1"},
                      {"kind", "Job"},
                      {"metadata", json::Object{{"name", kJob}, {"namespace", kNamespace}}},
                      {"spec", std::move(spec)}};
}

// Held after the first two have ended, and let go; fewer at once, and two again.
Task<void> hold_between(User& user, json::Value job) {
  co_await user.create(std::move(job));
  co_await user.wait_for_active(2);
  co_await user.wait_for_processes(2);
  co_await user.set_suspend(true);
  co_await user.wait_for_processes(0);
  co_await user.set_parallelism(1);
  co_await user.set_suspend(false);
  co_await user.wait_for_processes(1);
  co_await user.set_parallelism(2);
  co_await user.wait_for_end();
}

Task<void> take_one(User& user, json::Value job) {
  co_await user.create(std::move(job));
  co_await user.wait_for_active(2);
  co_await user.wait_for_processes(2);
  co_await user.remove_pod(1);
  co_await user.wait_for_end();
}

// The others differ from these in what is watched or written, not in how.
constexpr auto kFull = std::to_array<std::string_view>(
    {"create", "restart", "disruption", "suspend", "success", "failure", "deadline", "ttl",
     "completions", "queue", "master_retry", "pause"});

std::vector<Workload> make_workloads() {
  std::vector<Workload> all;
  all.push_back({"create", three_ranks(), {}, &create_and_watch, "Running"});
  all.push_back({"restart",
                 with_policy("backoffLimit", 3),
                 {.exits = {{"Worker/0#0", {seconds(5), 137}},
                            {"Worker/0#1", {seconds(10), 0}},
                            {"Worker/1#0", {seconds(10), 0}}}},
                 &create_and_wait,
                 "Succeeded"});
  json::Value in_place = with_policy("backoffLimit", 0);
  in_place["spec"]["msReplicaSpecs"]["Worker"]["restartPolicy"] = "OnFailure";
  all.push_back({"disruption",
                 std::move(in_place),
                 {.exits = {{"Worker/0#0", {seconds(5), 143, true}},
                            {"Worker/0#1", {seconds(10), 0}},
                            {"Worker/1#0", {seconds(10), 0}}}},
                 &create_and_wait,
                 "Succeeded"});
  all.push_back({"suspend",
                 three_ranks(),
                 // In epoch 2 already where a fault hid that the job was held and let go before.
                 {.exits = {{"Worker/0#0@2", {seconds(12), 0}},
                            {"Worker/1#0@2", {seconds(12), 0}},
                            {"Worker/0#0@4", {seconds(10), 0}},
                            {"Worker/1#0@4", {seconds(10), 0}}}},
                 &suspend,
                 "Succeeded",
                 true});
  all.push_back({"success", three_ranks(), both_succeed(), &create_and_wait, "Succeeded"});
  all.push_back({"failure",
                 three_ranks(),
                 {.exits = {{"Worker/1#0", {seconds(5), 1}}}},
                 &create_and_wait,
                 "Failed"});
  all.push_back(
      {"deadline", with_policy("activeDeadlineSeconds", 30), {}, &create_and_wait, "Failed"});
  all.push_back(
      {"ttl", with_policy("ttlSecondsAfterFinished", 20), both_succeed(), &create_and_wait, ""});
  all.push_back({"delete", three_ranks(), {}, &create_and_delete, "", true});
  all.push_back({"scale", three_ranks(), {}, &scale, "Running"});
  all.push_back({"recreate", three_ranks(), {}, &recreate, "Running", true});
  all.push_back({"bounce", three_ranks(), {}, &bounce, "Running", true});
  all.push_back({"foreign", three_ranks(), {}, &foreign, "Failed", true});
  const Script workers_succeed{
      .exits = {{"worker/0#0", {seconds(10), 0}}, {"worker/1#0", {seconds(10), 0}}}};
  all.push_back({"barrier", paddle_ranks(false), workers_succeed, &create_and_wait, "Succeeded"});
  all.push_back({"barrier_failure",
                 paddle_ranks(false),
                 {.exits = {{"worker/1#0", {seconds(5), 1}}}},
                 &create_and_wait,
                 "Failed"});
  all.push_back({"barrier_lost", paddle_ranks(false), {}, &lose_config, "Running"});
  all.push_back({"barrier_scale",
                 paddle_ranks(false),
                 // In epoch 0 or 1 already where a fault hid that there were four for a while.
                 {.exits = {{"worker/0#0", {seconds(60), 0}},
                            {"worker/1#0", {seconds(60), 0}},
                            {"worker/0#0@1", {seconds(30), 0}},
                            {"worker/1#0@1", {seconds(30), 0}},
                            {"worker/0#0@2", {seconds(10), 0}},
                            {"worker/1#0@2", {seconds(10), 0}}}},
                 &scale_all,
                 "Succeeded",
                 true});
  all.push_back({"elastic_scale", paddle_ranks(true), {}, &scale_elastic, "Running"});
  all.push_back({"single",
                 two_at_once(1),
                 {.ranks = 1, .exits = {{"Pod/0#0", {seconds(10), 0}}}},
                 &create_and_wait,
                 "Succeeded"});
  all.push_back({"completions",
                 two_at_once(4),
                 {.ranks = 2,
                  .exits = {{"Pod/0#0", {seconds(10), 0}},
                            {"Pod/1#0", {seconds(5), 137}},
                            {"Pod/1#1", {seconds(10), 0}},
                            {"Pod/2#0", {seconds(10), 0}},
                            {"Pod/3#0", {seconds(10), 0}}}},
                 &create_and_wait,
                 "Succeeded"});
  all.push_back({"completions_held",
                 two_at_once(4),
                 {.ranks = 2,
                  .exits = {{"Pod/0#0@2", {seconds(10), 0}},
                            {"Pod/1#0@2", {seconds(10), 0}},
                            {"Pod/2#0@2", {seconds(10), 0}},
                            {"Pod/3#0@2", {seconds(10), 0}}}},
                 &hold_between,
                 "Succeeded",
                 true});
  all.push_back(
      {"completions_taken",
       two_at_once(2),
       {.ranks = 2, .exits = {{"Pod/0#0", {seconds(20), 0}}, {"Pod/1#1", {seconds(10), 0}}}},
       &take_one,
       "Succeeded",
       true});
  all.push_back({"queue",
                 two_at_once(std::nullopt),
                 {.ranks = 2,
                  .exits = {{"Pod/0#0", {seconds(10), 137}},
                            {"Pod/0#1", {seconds(10), 0}},
                            {"Pod/1#0", {seconds(20), 0}}}},
                 &create_and_wait,
                 "Succeeded"});
  all.push_back({"master_retry",
                 master_and_workers(3),
                 {.exits = {{"master/0#0", {seconds(5), 137}},
                            {"master/0#1", {seconds(5), 137}},
                            {"master/0#2", {seconds(10), 0, false, "muster: a host ran no rank"}}}},
                 &create_and_wait,
                 "Succeeded"});
  all.push_back({"master_fails",
                 master_and_workers(0),
                 {.exits = {{"master/0#0", {seconds(5), 137}}}},
                 &create_and_wait,
                 "Failed"});
  all.push_back({"master_workers",
                 master_and_workers(0),
                 // One exits and is started again, the other is taken away. The master runs on for
                 // as long as it may take until a restart is seen whose event was lost.
                 {.exits = {{"workerset-a/0#0", {seconds(5), 1}},
                            {"workerset-a/1#0", {seconds(10), 143, true}},
                            {"master/0#0", {std::chrono::minutes(12), 0}}}},
                 &create_and_wait,
                 "Succeeded"});
  all.push_back(
      {"master_held",
       master_and_workers(0),
       // In epoch 2 already where a fault hid that the job was held and let go before.
       {.exits = {{"master/0#0@2", {seconds(12), 0}}, {"master/0#0@4", {seconds(10), 0}}}},
       &suspend,
       "Succeeded",
       true});
  for (Workload& story : all) story.script.alone = api::kind_of(story.job) == "Job";
  for (Workload& story : pause_workloads()) all.push_back(std::move(story));
  for (Workload& story : all) story.full = std::ranges::find(kFull, story.name) != kFull.end();
  return all;
}

}  // namespace

json::Value three_ranks() {
  return json::Object{
      {"apiVersion", "mindspore.gitee.com/v1"},
      {"kind", "MSJob"},
      {"metadata", json::Object{{"name", kJob}, {"namespace", kNamespace}}},
      {"spec", json::Object{{"runPolicy", json::Object{{"cleanPodPolicy", "Running"}}},
                            {"successPolicy", "AllWorkers"},
                            {"msReplicaSpecs", json::Object{{"Scheduler", role(1, "Never")},
                                                            {"Worker", role(2, "ExitCode")}}}}}};
}

const std::vector<Workload>& workloads() {
  static const std::vector<Workload> all = make_workloads();
  return all;
}

const Workload& workload(std::string_view name) {
  for (const Workload& each : workloads()) {
    if (each.name == name) return each;
  }
  check_failed(__FILE__, __LINE__, "no such workload");
}

}  // namespace muster::simulation
