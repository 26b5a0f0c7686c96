#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "engine/children.h"
#include "engine/decide.h"
#include "plan/suspend.h"
#include "support.h"

namespace muster::dialects::test {

// A job, its pods and objects, and the status that was stored last. Time goes on with every look.
class Life {
 public:
  explicit Life(json::Value job) : job_(std::move(job)), plan_(compiled(job_)) {}

  void edit(json::Value job) {
    job_ = std::move(job);
    job_["metadata"]["generation"] = ++generation_;
    plan_ = compiled(job_);
  }

  // Decides, stores, and does what was decided: all at once, as far as pods and objects go.
  engine::Decision look() {
    now_ += std::chrono::seconds(1);
    engine::Decision decision = engine::decide(plan_, observed_, now_);
    status_ = dialect_of(job_).status(plan_, status_, decision.verdict, now_);
    observed_.ledger = decision.verdict.ledger;
    for (const auto& note : decision.notes) say(note);
    for (const auto& action : decision.wave) do_it(action);
    return decision;
  }

  // As often as something is done.
  void settle() {
    for (int looks = 0; looks < 10 && !look().wave.empty(); ++looks) {
    }
    look();
  }

  void put(const std::string& name, api::PodPhase phase, const std::string& ip = "") {
    engine::PodView& pod = find(name);
    pod.phase = phase;
    if (!ip.empty()) pod.ip = ip;
    std::optional<int> code;
    if (phase == api::PodPhase::Succeeded) code = 0;
    if (phase == api::PodPhase::Failed) code = 3;
    pod.containers = {{.name = plan_.role(pod.role)->main_container,
                       .running = phase == api::PodPhase::Running,
                       .exit_code = code}};
  }
  void all_run() {
    int number = 0;
    for (engine::PodView& pod : observed_.pods) {
      put(pod.name, api::PodPhase::Running, fmt::format("10.0.0.{}", ++number));
    }
  }
  // What a container leaves behind for its user.
  void leave_message(const std::string& name, std::string message) {
    find(name).containers.front().message = std::move(message);
  }
  void restart_in_place(const std::string& name, std::int64_t times) {
    find(name).containers.front().restarts = times;
  }
  void pass(Duration time) { now_ += time; }
  void take_away(const std::string& name) {
    std::erase_if(observed_.pods, [&](const engine::PodView& pod) { return pod.name == name; });
  }

  [[nodiscard]] std::string phase() const { return status_["phase"].as_string(); }
  [[nodiscard]] const json::Value& status() const { return status_; }
  // "True, -, All pods are running normally."; empty when it is not there.
  [[nodiscard]] std::string condition(std::string_view type) const {
    for (const json::Value& entry : status_["conditions"].as_array()) {
      if (entry["type"].as_string() != type) continue;
      return fmt::format("{}, {}, {}", entry["status"].as_string(), entry["reason"].as_string(),
                         entry["message"].as_string());
    }
    return {};
  }
  [[nodiscard]] const std::vector<std::string>& events() const { return events_; }
  engine::Observed& observed() { return observed_; }
  [[nodiscard]] std::vector<std::string> pods() const {
    std::vector<std::string> names;
    for (const engine::PodView& pod : observed_.pods) names.push_back(pod.name);
    std::ranges::sort(names);
    return names;
  }
  // "Service walk-worker"; Secrets are not seen.
  [[nodiscard]] std::vector<std::string> objects() const {
    std::vector<std::string> names;
    for (const engine::ObjectView& object : observed_.objects) {
      names.push_back(fmt::format("{} {}", object.resource.kind, object.name));
    }
    std::ranges::sort(names);
    return names;
  }
  // The pod as it was made last.
  [[nodiscard]] const json::Value& made(const std::string& pod) { return made_[pod]; }
  [[nodiscard]] const json::Value& config() const { return config_; }

 private:
  static plan::Plan compiled(const json::Value& job) {
    auto plan = dialect_of(job).compile(job);
    if (!plan) {
      ADD_FAILURE() << plan.error().message;
      return {};
    }
    plan::apply_suspend_annotation(dialect_of(job).identity(), job, *plan);
    return std::move(*plan);
  }
  engine::PodView& find(const std::string& name) {
    const auto found = std::ranges::find(observed_.pods, name, &engine::PodView::name);
    EXPECT_NE(found, observed_.pods.end()) << name;
    return *found;
  }
  void say(const plan::Note& note) {
    if (const auto text = dialect_of(job_).event_for(plan_.job, note)) {
      events_.push_back(text->reason + ": " + text->message);
    }
  }
  void do_it(const engine::Action& action) {
    if (const auto* pod = std::get_if<engine::CreatePod>(&action)) {
      json::Value body = engine::make_pod(plan_, *pod);
      body["metadata"]["uid"] = fmt::format("uid-{}", ++uids_);
      observed_.pods.push_back(engine::PodView::from(body));
      made_[pod->name] = std::move(body);
    } else if (const auto* object = std::get_if<engine::CreateObject>(&action)) {
      if (object->object->is_secret()) {
        observed_.secrets.insert(object->name);
        return;
      }
      json::Value body = engine::make_object(plan_, *object);
      const auto& resource = object->object->id.resource;
      if (resource == api::config_maps()) config_ = body["data"];
      observed_.objects.push_back(engine::ObjectView::from(resource, body));
    } else if (const auto* gone = std::get_if<engine::DeletePod>(&action)) {
      take_away(gone->name);
    } else if (const auto* other = std::get_if<engine::DeleteObject>(&action)) {
      if (other->resource == api::config_maps()) config_ = {};
      std::erase_if(observed_.objects, [&](const engine::ObjectView& view) {
        return view.resource == other->resource && view.name == other->name;
      });
    }
  }

  json::Value job_;
  plan::Plan plan_;
  engine::Observed observed_;
  json::Value status_;
  json::Value config_;
  std::map<std::string, json::Value> made_;
  std::vector<std::string> events_;
  Time now_ = Time(std::chrono::seconds(1'800'000'000));
  int generation_ = 1;
  int uids_ = 0;
};

}  // namespace muster::dialects::test
