#include "plan_text.h"

#include <array>

#include <fmt/format.h>

namespace muster::dialects::test {
namespace {

std::string path_text(const plan::JsonPath& path) {
  std::string out;
  for (const auto& step : path) {
    if (const auto* member = std::get_if<std::string>(&step)) {
      out += (out.empty() ? "" : ".") + *member;
    } else {
      out += fmt::format("[{}]", std::get<std::size_t>(step));
    }
  }
  return out;
}

json::Value late_text(const plan::LateValue& late) {
  const auto* service = std::get_if<plan::ServiceIp>(&late.value);
  return fmt::format("{} = address of service {}", path_text(late.path),
                     service == nullptr ? "?" : service->service);
}

std::string set_text(const plan::RankSet& set) {
  constexpr std::array<std::string_view, 3> kOutcomes = {"Succeeded", "Failed", "Finished"};
  const auto outcome = kOutcomes[static_cast<std::size_t>(set.outcome)];
  switch (set.quorum) {
    case plan::RankSet::Quorum::All:
      return fmt::format("all of {} {}", set.role, outcome);
    case plan::RankSet::Quorum::Index:
      return fmt::format("{} {} {}", set.role, set.number, outcome);
    case plan::RankSet::Quorum::AtLeast:
      return fmt::format("at least {} of {} {}", set.number, set.role, outcome);
  }
  return {};
}

json::Value sets_text(const std::vector<plan::RankSet>& sets) {
  json::Array out;
  for (const auto& set : sets) out.emplace_back(set_text(set));
  return out;
}

std::string_view clean_up_text(plan::CleanUp clean_up) {
  constexpr std::array<std::string_view, 3> kNames = {"None", "Running", "All"};
  return kNames[static_cast<std::size_t>(clean_up)];
}

json::Value role_text(const plan::Plan& plan, const plan::Role& role) {
  json::Array pods;
  for (int i = 0; i < role.replicas; ++i) pods.emplace_back(plan::pod_name(plan, role, i));
  json::Object out{{"name", role.name}, {"pods", pods}};
  json::Array after;
  for (const auto& object : role.after) after.emplace_back(object);
  if (!after.empty()) out.set("after", after);
  json::Array late;
  for (const auto& value : role.late) late.push_back(late_text(value));
  if (!late.empty()) out.set("late", late);
  if (role.on_failed == plan::OnFailedPod::RecreateIfRetryable) out.set("onFailed", "recreate");
  out.set("countsRestarts", role.counts_restarts);
  out.set("template", role.pod);
  return out;
}

json::Value limits_text(const plan::Limits& limits) {
  json::Object out;
  if (limits.deadline_seconds) out.set("deadline", *limits.deadline_seconds);
  if (limits.ttl_seconds) out.set("ttl", *limits.ttl_seconds);
  if (limits.backoff) out.set("backoff", *limits.backoff);
  return out;
}

}  // namespace

json::Value plan_text(const plan::Plan& plan) {
  json::Object out;
  json::Array objects;
  for (const auto& object : plan.objects) objects.push_back(object.body);
  out.set("objects", objects);
  json::Array roles;
  for (const auto& role : plan.roles) roles.push_back(role_text(plan, role));
  out.set("roles", roles);
  out.set("success", sets_text(plan.success));
  out.set("failure", sets_text(plan.failure));
  out.set("tie", plan.tie == plan::Tie::SuccessWins ? "success" : "failure");
  out.set("limits", limits_text(plan.limits));
  out.set("onEnd", clean_up_text(plan.on_end));
  out.set("onLimit", clean_up_text(plan.on_limit));
  out.set("gang", plan.gang ? plan.gang->minimum : 0);
  json::Array warnings;
  for (const auto& warning : plan.warnings) warnings.emplace_back(warning.reason);
  out.set("warnings", warnings);
  return out;
}

}  // namespace muster::dialects::test
