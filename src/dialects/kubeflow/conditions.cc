#include "dialects/conditions.h"

#include <algorithm>

namespace muster::dialects {
namespace {

constexpr std::string_view kRunning = "Running";
constexpr std::string_view kRestarting = "Restarting";
constexpr std::string_view kSucceeded = "Succeeded";
constexpr std::string_view kFailed = "Failed";

const json::Value* find(const json::Array& conditions, std::string_view type) {
  const auto found = std::ranges::find_if(conditions, [&](const json::Value& condition) {
    return condition["type"].as_string() == type;
  });
  return found == conditions.end() ? nullptr : &*found;
}

bool excludes(std::string_view set, std::string_view other) {
  return set == other || (set == kRunning && other == kRestarting) ||
         (set == kRestarting && other == kRunning);
}

void stop_running(json::Array& conditions, const std::string& now) {
  for (auto& condition : conditions) {
    if (condition["type"].as_string() != kRunning || condition["status"].as_string() != "True") {
      continue;
    }
    condition["status"] = "False";
    condition["lastUpdateTime"] = now;
    condition["lastTransitionTime"] = now;
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
  if (is_true(conditions, condition.type)) {
    const auto& current = *find(conditions, condition.type);
    if (current["reason"].as_string() == condition.reason) return;
    transition = current["lastTransitionTime"].as_string();
  }
  std::erase_if(conditions, [&](const json::Value& other) {
    return excludes(condition.type, other["type"].as_string());
  });
  if (condition.type == kSucceeded || condition.type == kFailed) stop_running(conditions, time);
  conditions.emplace_back(json::Object{{"type", condition.type},
                                       {"status", "True"},
                                       {"reason", condition.reason},
                                       {"message", condition.message},
                                       {"lastUpdateTime", time},
                                       {"lastTransitionTime", transition}});
}

}  // namespace muster::dialects
