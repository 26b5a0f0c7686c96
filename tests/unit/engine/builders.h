#pragma once

#include <string>
#include <vector>

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
    plan_.running_role = "Worker";
  }
  JobBuilder& role(const std::string& name, const std::string& label, int replicas) {
    plan::Role role{
        .name = name, .label_name = label, .replicas = replicas, .main_container = "mindspore"};
    role.pod = json::Object{
        {"spec", json::Object{{"containers", json::Array{json::Object{{"name", "mindspore"}}}}}}};
    plan_.roles.push_back(std::move(role));
    plan_.failure.push_back({.role = name,
                             .quorum = plan::RankSet::Quorum::AtLeast,
                             .number = 1,
                             .outcome = plan::RankSet::Outcome::Failed});
    return *this;
  }
  JobBuilder& workers(int replicas) { return role("Worker", "worker", replicas); }
  // A Scheduler whose service every pod waits for.
  JobBuilder& scheduler() {
    role("Scheduler", "scheduler", 1);
    plan_.objects.push_back(
        {.resource = api::services(), .name = "bert-scheduler-0", .role = "Scheduler"});
    return *this;
  }
  JobBuilder& retry_on_exit_code() {
    for (auto& role : plan_.roles) {
      role.on_failed = plan::OnFailedPod::RecreateIfRetryable;
      role.counts_restarts = true;
    }
    return *this;
  }
  JobBuilder& first_worker_decides() {
    plan_.success = {{.role = "Worker", .quorum = plan::RankSet::Quorum::Index, .number = 0},
                     {.role = "Worker"}};
    plan_.tie = plan::Tie::SuccessWins;
    return *this;
  }
  JobBuilder& all_workers_decide() {
    plan_.success = {{.role = "Worker"}};
    plan_.tie = plan::Tie::FailureWins;
    return *this;
  }
  JobBuilder& limits(plan::Limits limits) {
    plan_.limits = limits;
    return *this;
  }
  JobBuilder& clean(plan::CleanUp on_end) {
    plan_.on_end = on_end;
    plan_.on_limit = on_end == plan::CleanUp::None ? plan::CleanUp::Running : on_end;
    return *this;
  }
  plan::Plan build() {
    for (auto& role : plan_.roles) {
      if (!plan_.objects.empty()) {
        role.after = {"bert-scheduler-0"};
        if (role.name != "Scheduler") {
          role.late = {{.path = {"spec", "containers", std::size_t{0}, "image"},
                        .value = plan::ServiceIp{"bert-scheduler-0"}}};
        }
      }
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
  view.name = (role == "Worker" ? "bert-worker-"
               : role == "PS"   ? "bert-ps-"
                                : "bert-scheduler-") +
              std::to_string(index);
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
