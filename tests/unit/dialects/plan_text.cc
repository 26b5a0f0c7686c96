#include "plan_text.h"

#include <array>

#include <fmt/format.h>

namespace muster::dialects::test {
namespace {

template <std::size_t N, class Enum>
std::string_view name_of(const std::array<std::string_view, N>& names, Enum value) {
  return names.at(static_cast<std::size_t>(value));
}

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

struct PartText {
  std::string operator()(const std::string& text) const { return text; }
  std::string operator()(const plan::Ordinal& ordinal) const {
    return ordinal.base == 0 ? "<index>" : fmt::format("<index + {}>", ordinal.base);
  }
  std::string operator()(const plan::ServiceIp& ip) const {
    return fmt::format("<address of service {}>", ip.service);
  }
  std::string operator()(const plan::PodIp& ip) const {
    return fmt::format("<{}address of {} {}>", ip.brackets ? "bracketed " : "", ip.role, ip.index);
  }
};

json::Value values_text(const std::vector<plan::Placed>& values) {
  json::Array out;
  for (const auto& [path, value] : values) {
    std::string text = path_text(path) + " = ";
    for (const auto& part : value) text += std::visit(PartText{}, part);
    out.emplace_back(std::move(text));
  }
  return out;
}

std::string set_text(const plan::RankSet& set) {
  const auto outcome = name_of<4>({"Succeeded", "Failed", "Finished", "Running"}, set.outcome);
  if (set.role.empty()) return fmt::format("all of every role {}", outcome);
  switch (set.quorum) {
    case plan::RankSet::Quorum::All:
      return fmt::format("all of {} {}", set.role, outcome);
    case plan::RankSet::Quorum::Index:
      return fmt::format("{} {} {}", set.role, set.number, outcome);
    case plan::RankSet::Quorum::AtLeast:
      return fmt::format("at least {} of {} {}", set.number, set.role, outcome);
    case plan::RankSet::Quorum::AnyAndNoneLeft:
      return fmt::format("any of {} {} and none left", set.role, outcome);
  }
  return {};
}

json::Value sets_text(const std::vector<plan::RankSet>& sets) {
  json::Array out;
  for (const auto& set : sets) out.emplace_back(set_text(set));
  return out;
}

std::string clean_up_text(const plan::Role& role) {
  constexpr std::array<std::string_view, 3> kNames = {"None", "Running", "All"};
  return fmt::format("{}, {}, {}", name_of(kNames, role.on_success),
                     name_of(kNames, role.on_failure), name_of(kNames, role.on_limit));
}

std::string retry_text(const plan::Retry& retry) {
  std::string out(name_of<4>({"Never", "Disruption", "RetryableCode", "AnyFailure"}, retry.on));
  for (const int code : retry.codes.listed) out += fmt::format(" {}", code);
  if (retry.limit) out += fmt::format(", at most {} times", *retry.limit);
  if (retry.keep_failed) out += ", keeps the failed";
  if (retry.pause == plan::Retry::Pause::Role) out += ", pauses the role";
  return out;
}

json::Value object_text(const plan::Object& object) {
  json::Object out{{"body", object.body}};
  if (object.id.name.empty()) {
    out.set("eachRankOf", object.each_rank_of);
  } else {
    out.set("name", object.id.name);
  }
  if (!object.values.empty()) out.set("values", values_text(object.values));
  if (object.on_change == plan::OnChange::Replace) out.set("onChange", "Replace");
  if (object.is_secret())
    out.set("source", name_of<3>({"Body", "SharedKey", "SshKeys"}, object.source));
  if (object.ends_with_job) out.set("endsWithJob", true);
  out.set("until", name_of<3>({"Hold", "End", "JobGone"}, object.until));
  return out;
}

// The characters of a salt are anybody's guess.
std::string pod_text(const plan::NameRule& rule, int rank) {
  std::string name = rule.name(rank, 0);
  if (!rule.salt.empty()) name.replace(name.size() - 5, 5, "xxxxx");
  return name;
}

json::Value role_text(const plan::Role& role) {
  json::Array pods;
  for (int i = 0; i < role.replicas; ++i) pods.emplace_back(pod_text(role.pod_name, i));
  json::Object out{{"name", role.name}, {"pods", pods}, {"mainContainer", role.main_container}};
  if (role.max_active) out.set("atOnce", *role.max_active);
  if (role.remembers())
    out.set("completion", name_of<3>({"WhilePodIsThere", "ForGood", "WorkQueue"}, role.completion));
  json::Array after;
  for (const auto& object : role.after) after.emplace_back(object.name);
  if (!after.empty()) out.set("after", after);
  if (!role.values.empty()) out.set("values", values_text(role.values));
  out.set("retry", retry_text(role.retry));
  out.set("cleanUp", clean_up_text(role));
  if (role.remarks) out.set("remarks", true);
  out.set("template", role.pod);
  if (role.pod_resumed) out.set("templateAfterResume", *role.pod_resumed);
  if (!role.values_resumed.empty()) out.set("valuesAfterResume", values_text(role.values_resumed));
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
  for (const auto& object : plan.objects) objects.push_back(object_text(object));
  out.set("objects", objects);
  json::Array roles;
  for (const auto& role : plan.roles) roles.push_back(role_text(role));
  out.set("roles", roles);
  out.set("success", sets_text(plan.success));
  out.set("failure", sets_text(plan.failure));
  out.set("tie", name_of<3>({"success", "failure", "limits"}, plan.tie));
  out.set("running", set_text(plan.running));
  out.set("limits", limits_text(plan.limits));
  if (plan.backoff_counts == plan::BackoffCounts::FailedPods)
    out.set("backoffCounts", "failed pods");
  out.set("gang", plan.gang ? plan.gang->minimum : 0);
  if (plan.gang && !plan.gang->queue.empty())
    out.set("queue", fmt::format("{}, priority {}", plan.gang->queue, plan.gang->priority));
  if (plan.hold) out.set("hold", plan.run_key);
  if (!plan.hold && !plan.run_key.empty()) out.set("runKey", plan.run_key);
  if (plan.reports_ranks) out.set("reportsRanks", true);
  if (!plan.selector.empty()) out.set("selector", plan.selector);
  json::Array warnings;
  for (const auto& warning : plan.warnings) warnings.emplace_back(warning.reason);
  out.set("warnings", warnings);
  return out;
}

}  // namespace muster::dialects::test
