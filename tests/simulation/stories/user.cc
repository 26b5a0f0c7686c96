#include "user.h"

#include "api/object.h"
#include "base/check.h"
#include "base/strings.h"
#include "plan/plan.h"
#include "plan/suspend.h"
#include "plan/verdict.h"
#include "rt/wait.h"

namespace muster::simulation {

using std::chrono::milliseconds;
using std::chrono::seconds;

Task<void> User::create(json::Value job) {
  return create_object(jobs_, std::move(job));
}

Task<void> User::create_object(const api::Resource& resource, json::Value object) {
  const auto created = co_await cluster_.create(resource, std::move(object));
  if (!created) check_failed(__FILE__, __LINE__, created.error().message.c_str());
}

Task<void> User::pause(Duration duration) {
  [[maybe_unused]] const auto slept = co_await rt::sleep_for(loop_, duration);
}

Task<void> User::wait_for_processes(std::size_t count) {
  while (processes() != count) {
    if (!co_await rt::sleep_for(loop_, milliseconds(200))) co_return;
  }
}

Task<void> User::wait_for_end() {
  while (true) {
    const auto job = co_await cluster_.get(jobs_, job_);
    if (!job) co_return;
    const auto& phase = (**job)["status"]["muster"]["phase"].as_string();
    if (plan::is_terminal(plan::phase_named(phase))) co_return;
    if (!co_await rt::sleep_for(loop_, seconds(1))) co_return;
  }
}

Task<void> User::edit(std::function<void(json::Value&)> change) {
  while (true) {
    const auto job = co_await cluster_.get(jobs_, job_);
    if (!job) co_return;
    json::Value edited = **job;
    change(edited);
    const auto stored = co_await cluster_.update(jobs_, std::move(edited));
    if (stored || stored.error().code == ErrorCode::Cancelled) co_return;
    if (stored.error().code != ErrorCode::Conflict) {
      check_failed(__FILE__, __LINE__, stored.error().message.c_str());
    }
  }
}

Task<void> User::set_workers(int replicas) {
  checker_.wish(job_.name, "Worker", replicas);
  checker_.wish(job_.name, "worker", replicas);
  return edit([replicas](json::Value& job) {
    const bool plain = std::as_const(job)["spec"]["worker"].is_object();
    json::Value& roles = plain ? job["spec"] : job["spec"]["msReplicaSpecs"];
    roles[plain ? "worker" : "Worker"]["replicas"] = replicas;
  });
}

Task<void> User::wait_for_phase(std::string phase) {
  while (true) {
    const auto job = co_await cluster_.get(jobs_, job_);
    if (!job || (**job)["status"]["muster"]["phase"].as_string() == phase) co_return;
    if (!co_await rt::sleep_for(loop_, seconds(1))) co_return;
  }
}

Task<void> User::wait_for_config() {
  while (!co_await cluster_.get(api::config_maps(), job_)) {
    if (!co_await rt::sleep_for(loop_, seconds(1))) co_return;
  }
}

Task<void> User::wait_for_hosts(std::size_t count) {
  while (true) {
    const auto config = co_await cluster_.get(api::config_maps(), job_);
    if (config && split((**config)["data"]["PADDLE_TRAINERS"].as_string(), ',').size() == count)
      co_return;
    if (!co_await rt::sleep_for(loop_, seconds(1))) co_return;
  }
}

Task<void> User::remove_config() {
  const auto removed = co_await cluster_.remove(api::config_maps(), job_, {});
  CHECK(removed.has_value());
}

Task<void> User::set_suspend(bool suspend) {
  return edit([this, suspend](json::Value& job) {
    CHECK(plan::set_suspended(identity_, job, suspend).has_value());
  });
}

Task<void> User::set_parallelism(int parallelism) {
  return edit([parallelism](json::Value& job) { job["spec"]["parallelism"] = parallelism; });
}

Task<void> User::wait_for_active(int count) {
  while (true) {
    const auto job = co_await cluster_.get(jobs_, job_);
    if (!job || (**job)["status"]["active"].as_int() == count) co_return;
    if (!co_await rt::sleep_for(loop_, milliseconds(200))) co_return;
  }
}

Task<void> User::remove_pod(int index) {
  const auto pods = co_await cluster_.list(api::pods(), {});
  CHECK(pods.has_value());
  for (const auto& pod : pods->items) {
    if (api::label_of(*pod, plan::labels::kIndex) != std::to_string(index)) continue;
    if (api::owners_of(*pod).front().name != job_.name) continue;
    checker_.taken(api::controller_uid_of(*pod));
    const auto removed = co_await cluster_.remove(api::pods(), api::key_of(*pod), {});
    CHECK(removed.has_value());
  }
}

Task<void> User::remove_job() {
  const auto removed = co_await cluster_.remove(jobs_, job_, {});
  CHECK(removed.has_value());
}

Task<void> User::hold(Duration duration) {
  co_await set_suspend(true);
  co_await pause(duration);
  co_await set_suspend(false);
}

}  // namespace muster::simulation
