#pragma once

#include <string>
#include <vector>

#include "base/strings.h"
#include "engine/children.h"
#include "engine/decide.h"
#include "json/value.h"
#include "plan/plan.h"

// Readable objects for engine tests: a Scheduler, some Workers, pods in any state.
namespace muster::engine::testing {

inline constexpr Time kStart = Time(std::chrono::seconds(1'800'000'000));

class JobBuilder {
 public:
  JobBuilder() {
    plan_.job = {.resource = {.group = "mindspore.gitee.com",
                              .version = "v1",
                              .plural = "msjobs",
                              .kind = "MSJob"},
                 .ns = "ml",
                 .name = "bert",
                 .uid = "job-uid",
                 .generation = 1};
    plan_.running = plan::any_of("Worker", plan::RankSet::Outcome::Running);
  }
  JobBuilder& role(const std::string& name, const std::string& label, int replicas) {
    plan::Role role{.name = name,
                    .replicas = replicas,
                    .pod_name = {.stem = "bert-" + label},
                    .main_container = "mindspore"};
    role.pod = json::Object{
        {"spec", json::Object{{"containers", json::Array{json::Object{{"name", "mindspore"}}}}}}};
    plan_.roles.push_back(std::move(role));
    plan_.failure.push_back(plan::any_of(name, plan::RankSet::Outcome::Failed));
    return *this;
  }
  JobBuilder& workers(int replicas) { return role("Worker", "worker", replicas); }
  // A Scheduler whose service every pod waits for.
  JobBuilder& scheduler() {
    role("Scheduler", "scheduler", 1);
    plan_.objects.push_back({.id = {api::services(), "bert-scheduler-0"}});
    return *this;
  }
  // A Service for each Worker, whose label is the Worker's number counted from 1.
  JobBuilder& service_for_each_worker(plan::Until until = plan::Until::Hold) {
    plan_.objects.push_back({.id = {api::services(), ""},
                             .values = {{.path = {"metadata", "labels", "task"},
                                         .value = {"t", plan::Ordinal{.base = 1}}}},
                             .each_rank_of = "Worker",
                             .until = until});
    return *this;
  }
  JobBuilder& retry_on_exit_code() {
    for (auto& role : plan_.roles) {
      role.retry = {.on = plan::Retry::On::RetryableCode,
                    .codes = {.listed = {130, 137, 138, 143}}};
    }
    return *this;
  }
  // The kubelet restarts what ends; only disruptions make new pods.
  JobBuilder& restart_in_place(const std::string& policy = "OnFailure") {
    for (auto& role : plan_.roles) {
      role.retry.on = plan::Retry::On::Disruption;
      role.pod["spec"]["restartPolicy"] = policy;
    }
    return *this;
  }
  JobBuilder& first_worker_decides() {
    using Outcome = plan::RankSet::Outcome;
    plan_.success = {plan::rank_of("Worker", 0, Outcome::Succeeded),
                     plan::all_of("Worker", Outcome::Succeeded)};
    plan_.tie = plan::Tie::SuccessWins;
    return *this;
  }
  JobBuilder& all_workers_decide() {
    plan_.success = {plan::all_of("Worker", plan::RankSet::Outcome::Succeeded)};
    plan_.tie = plan::Tie::FailureWins;
    return *this;
  }
  JobBuilder& limits(plan::Limits limits) {
    plan_.limits = limits;
    return *this;
  }
  JobBuilder& clean(plan::CleanUp on_end) {
    for (auto& role : plan_.roles) {
      role.on_success = role.on_failure = on_end;
      role.on_limit = on_end == plan::CleanUp::None ? plan::CleanUp::Running : on_end;
    }
    return *this;
  }
  // Pods that run to completion, so many at once; none to complete: a work queue.
  JobBuilder& completions(std::optional<int> number, int at_once) {
    role("Worker", "worker", number.value_or(at_once));
    plan::Role& role = plan_.roles.back();
    role.pod_name = {.stem = "bert", .index = false, .salt = "job-uid"};
    role.max_active = at_once;
    role.completion = number ? plan::Completion::ForGood : plan::Completion::WorkQueue;
    role.retry = {
        .on = plan::Retry::On::AnyFailure, .keep_failed = true, .pause = plan::Retry::Pause::Role};
    const auto done = plan::RankSet::Outcome::Succeeded;
    plan_.success = {number ? plan::all_of("Worker", done)
                            : plan::any_and_none_left("Worker", done)};
    plan_.failure.clear();
    plan_.tie = plan::Tie::LimitsWin;
    plan_.backoff_counts = plan::BackoffCounts::FailedPods;
    return *this;
  }
  JobBuilder& suspended() {
    plan_.hold = true;
    plan_.run_key = "suspended";
    return *this;
  }
  plan::Plan build() {
    const plan::ObjectId meeting{api::services(), "bert-scheduler-0"};
    const bool has_scheduler = plan_.role("Scheduler") != nullptr;
    for (auto& role : plan_.roles) {
      if (!has_scheduler) continue;
      role.after = {meeting};
      if (role.name == "Scheduler") continue;
      role.values = {{.path = {"spec", "containers", std::size_t{0}, "image"},
                      .value = {plan::ServiceIp{meeting.name}}}};
    }
    return plan_;
  }

 private:
  plan::Plan plan_;
};

inline PodView pod(const std::string& role, int index, api::PodPhase phase,
                   std::optional<int> exit_code = {}) {
  PodView view;
  view.role = role;
  view.index = index;
  view.name = "bert-" + to_lower(role) + "-" + std::to_string(index);
  view.uid = "uid-" + view.name;
  view.phase = phase;
  ContainerView container{
      .name = "mindspore", .running = phase == api::PodPhase::Running, .exit_code = exit_code};
  if (exit_code) {
    container.reason = *exit_code == 0 ? "Completed" : "Error";
    view.finished_at = kStart;
  }
  view.containers.push_back(container);
  return view;
}

// The same pod after so many tries.
inline PodView attempt(PodView view, std::int64_t tries) {
  view.attempt = tries;
  view.uid += "-" + std::to_string(tries);
  return view;
}

// Taken away by the cluster.
inline PodView disrupted(const std::string& role, int index, std::optional<int> exit_code = {}) {
  PodView view = pod(role, index, api::PodPhase::Failed, exit_code);
  view.disruption_target = true;
  view.reason = "EvictionByEvictionAPI";
  return view;
}

inline ObjectView service(const std::string& name = "bert-scheduler-0",
                          const std::string& ip = "10.96.0.7") {
  return {.resource = api::services(), .name = name, .uid = "uid-service", .cluster_ip = ip};
}

// A job that has begun: the ledger as the first decision stores it.
inline Observed begun() {
  Observed observed;
  observed.ledger.start_time = kStart;
  observed.ledger.observed_generation = 1;
  return observed;
}

template <class T>
std::vector<T> actions(const Decision& decision) {
  std::vector<T> found;
  for (const Action& action : decision.wave) {
    if (const auto* typed = std::get_if<T>(&action)) found.push_back(*typed);
  }
  return found;
}

inline std::vector<std::string> created_pods(const Decision& decision) {
  std::vector<std::string> names;
  for (const auto& action : actions<CreatePod>(decision)) names.push_back(action.name);
  return names;
}

inline std::vector<std::string> deleted_pods(const Decision& decision) {
  std::vector<std::string> names;
  for (const auto& action : actions<DeletePod>(decision)) names.push_back(action.name);
  return names;
}

}  // namespace muster::engine::testing
