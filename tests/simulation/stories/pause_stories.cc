// Jobs with a launcher that are paused and let go, before they start, while they run, and in
// between being debugged. What is at leisure here is exact: the same is made and deleted whatever
// the fault.
#include "base/check.h"
#include "workload.h"

namespace muster::simulation {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

// A launcher and two workers, with a group of a scheduler that is not ours; the launcher runs
// another program after a pause.
json::Value launcher_and_workers(json::Value run_mode = json::Object{}) {
  run_mode["pause"]["resumeSpecs"] =
      json::Array{json::Object{{"type", "launcher"}, {"command", json::Array{"go-on"}}}};
  const json::Object container{{"name", "mpi-worker"}, {"image", "trainer"}};
  const json::Object pod{{"spec", json::Object{{"containers", json::Array{container}}}}};
  return json::Object{
      {"apiVersion", "batch.tensorstack.dev/v1beta1"},
      {"kind", "MPIJob"},
      {"metadata", json::Object{{"name", kJob}, {"namespace", kNamespace}}},
      {"spec",
       json::Object{
           {"runMode", std::move(run_mode)},
           {"runPolicy", json::Object{{"cleanUpWorkers", true}}},
           {"scheduler", json::Object{{"t9kScheduler", json::Object{{"queue", "default"}}}}},
           {"worker",
            json::Object{{"replicas", 2}, {"cmd", json::Array{"train"}}, {"template", pod}}}}}};
}

json::Value mode(const char* which) {
  return json::Object{{which, json::Object{{"enabled", true}}}};
}

Task<void> launch(User& user, json::Value job) {
  co_await user.create(std::move(job));
  co_await user.wait_for_end();
}

// Longer than any list is trusted: nothing begins again by itself.
Task<void> pause_for_long(User& user, json::Value job) {
  co_await user.create(std::move(job));
  co_await user.wait_for_processes(3);
  co_await user.pause(seconds(3));
  co_await user.set_suspend(true);
  co_await user.wait_for_processes(0);
  co_await user.wait_for_phase("Suspended");
  co_await user.pause(minutes(12));
  CHECK(user.processes() == 0);
  co_await user.set_suspend(false);
  co_await user.wait_for_end();
}

Task<void> begin_paused(User& user, json::Value job) {
  co_await user.create(std::move(job));
  co_await user.wait_for_phase("Suspended");
  co_await user.pause(seconds(3));
  CHECK(user.processes() == 0);
  co_await user.set_suspend(false);
  co_await user.wait_for_end();
}

Task<void> stop_debugging(User& user, json::Value job) {
  co_await user.create(std::move(job));
  co_await user.wait_for_processes(3);
  co_await user.pause(seconds(3));
  co_await user.edit(
      [](json::Value& edited) { edited["spec"]["runMode"]["debug"]["enabled"] = false; });
  co_await user.wait_for_end();
}

// Paused and let go while the old pods are still on their way out.
Task<void> pause_in_haste(User& user, json::Value job) {
  co_await user.create(std::move(job));
  co_await user.wait_for_processes(3);
  co_await user.set_suspend(true);
  co_await user.pause(seconds(1));
  co_await user.set_suspend(false);
  co_await user.wait_for_end();
}

// How a launcher ends, in that epoch; its remark is kept with the end.
Script launcher(const char* name, int code) {
  return {.exits = {{name, {seconds(10), code, false, "muster: host train-worker-1 ran no rank"}}}};
}

}  // namespace

std::vector<Workload> pause_workloads() {
  std::vector<Workload> all;
  all.push_back(
      {"launcher", launcher_and_workers(), launcher("launcher/0#0", 0), &launch, "Succeeded"});
  all.push_back(
      {"launcher_failure", launcher_and_workers(), launcher("launcher/0#0", 3), &launch, "Failed"});
  all.push_back({"pause", launcher_and_workers(), launcher("launcher/0#0@2", 0), &pause_for_long,
                 "Succeeded"});
  all.push_back({"pause_first", launcher_and_workers(mode("pause")), launcher("launcher/0#0@2", 0),
                 &begin_paused, "Succeeded"});
  all.push_back({"debug", launcher_and_workers(mode("debug")), launcher("launcher/0#0@1", 0),
                 &stop_debugging, "Succeeded"});
  Script either = launcher("launcher/0#0@2", 0);
  // A fault may hide that it was paused at all.
  either.exits.merge(launcher("launcher/0#0", 0).exits);
  all.push_back(
      {"pause_in_haste", launcher_and_workers(), either, &pause_in_haste, "Succeeded", true});
  return all;
}

}  // namespace muster::simulation
