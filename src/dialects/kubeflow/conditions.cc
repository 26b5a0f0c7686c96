#include "dialects/kubeflow/conditions.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "api/event.h"

namespace muster::dialects::kubeflow {
namespace {

constexpr std::string_view kCreated = "Created";
constexpr std::string_view kRunning = "Running";
constexpr std::string_view kRestarting = "Restarting";
constexpr std::string_view kSuspended = "Suspended";
constexpr std::string_view kSucceeded = "Succeeded";
constexpr std::string_view kFailed = "Failed";
constexpr std::string_view kWaiting = " Waiting for ";

const json::Value* find(const json::Array& conditions, std::string_view type) {
  const auto found = std::ranges::find_if(conditions, [&](const json::Value& condition) {
    return condition["type"].as_string() == type;
  });
  return found == conditions.end() ? nullptr : &*found;
}

std::string_view status_text(bool status) {
  return status ? "True" : "False";
}

bool removes(const Condition& set, std::string_view other) {
  if (set.type == other) return true;
  return (set.type == kRunning && other == kRestarting) ||
         (set.type == kRestarting && other == kRunning);
}

void turn_false(json::Value& condition, const std::string& now) {
  condition["status"] = "False";
  condition["lastUpdateTime"] = now;
  condition["lastTransitionTime"] = now;
}

void stop_others(json::Array& conditions, const Condition& set, const std::string& now) {
  const bool end = set.type == kSucceeded || set.type == kFailed;
  if (!set.status || (!end && set.type != kSuspended)) return;
  for (auto& condition : conditions) {
    const std::string& type = condition["type"].as_string();
    const bool stops = type == kRunning || type == kRestarting || (end && type == kSuspended);
    if (!stops || condition["status"].as_string() != "True") continue;
    turn_false(condition, now);
    if (end) continue;
    condition["reason"] = set.reason;
    condition["message"] = set.message;
  }
}

}  // namespace

bool is_true(const json::Array& conditions, std::string_view type) {
  const auto* condition = find(conditions, type);
  return condition != nullptr && (*condition)["status"].as_string() == "True";
}

bool is_over(const json::Array& conditions) {
  return is_true(conditions, kSucceeded) || is_true(conditions, kFailed);
}

void set_condition(json::Array& conditions, const Condition& condition, Time now) {
  if (is_over(conditions)) return;
  const std::string time = format_time(now);
  std::string transition = time;
  const auto* current = find(conditions, condition.type);
  if (current != nullptr && (*current)["status"].as_string() == status_text(condition.status)) {
    if ((*current)["reason"].as_string() == condition.reason) return;
    transition = (*current)["lastTransitionTime"].as_string();
  }
  std::erase_if(conditions, [&](const json::Value& other) {
    return removes(condition, other["type"].as_string());
  });
  stop_others(conditions, condition, time);
  conditions.emplace_back(json::Object{{"type", condition.type},
                                       {"status", status_text(condition.status)},
                                       {"reason", condition.reason},
                                       {"message", condition.message},
                                       {"lastUpdateTime", time},
                                       {"lastTransitionTime", transition}});
}

void tell_waiting(json::Array& conditions, std::string_view phase, std::string_view waiting_for,
                  Time now) {
  for (json::Value& condition : conditions) {
    const std::string& type = std::as_const(condition)["type"].as_string();
    if (type != kCreated && type != kRunning && type != kRestarting) continue;
    const std::string& message = std::as_const(condition)["message"].as_string();
    std::string wanted = message.substr(0, message.find(kWaiting));
    if (!waiting_for.empty() && type == phase)
      wanted = api::event_message(fmt::format("{}{}{}", wanted, kWaiting, waiting_for));
    if (wanted == message) continue;
    condition["message"] = std::move(wanted);
    condition["lastUpdateTime"] = format_time(now);
  }
}

}  // namespace muster::dialects::kubeflow
