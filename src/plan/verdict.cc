#include "plan/verdict.h"

#include <array>

#include <fmt/format.h>

namespace muster::plan {
namespace {

constexpr std::array<std::string_view, 5> kPhases = {"Created", "Running", "Restarting",
                                                     "Succeeded", "Failed"};
constexpr std::array<std::string_view, 6> kCauses = {"PodFailed",   "BackoffLimit",  "Deadline",
                                                     "InvalidSpec", "ForeignObject", "Rejected"};

// The enumerator of that name, or the first one.
template <class Enum, std::size_t N>
Enum named(const std::array<std::string_view, N>& names, std::string_view name) {
  for (std::size_t i = 0; i < N; ++i) {
    if (names[i] == name) return static_cast<Enum>(i);
  }
  return static_cast<Enum>(0);
}

json::Value time_value(Time time) {
  return format_micro_time(time);
}

std::optional<Time> read_time(const json::Value& value) {
  auto time = parse_time(value.as_string());
  return time ? std::optional(*time) : std::nullopt;
}

std::optional<std::int64_t> read_int(const json::Value& value) {
  return value.is_number() ? std::optional(value.as_int()) : std::nullopt;
}

json::Value cause_to_json(const Cause& cause) {
  json::Object out;
  out.set("kind", to_string(cause.kind));
  if (!cause.role.empty()) out.set("role", cause.role);
  if (cause.index >= 0) out.set("index", cause.index);
  if (!cause.pod.empty()) out.set("pod", cause.pod);
  if (cause.failed > 0) out.set("failed", cause.failed);
  if (cause.exit_code) out.set("exitCode", *cause.exit_code);
  if (!cause.reason.empty()) out.set("reason", cause.reason);
  if (!cause.text.empty()) out.set("text", cause.text);
  if (cause.at) out.set("at", time_value(*cause.at));
  return out;
}

Cause cause_from_json(const json::Value& value) {
  Cause cause;
  cause.kind = named<CauseKind>(kCauses, value["kind"].as_string());
  cause.role = value["role"].as_string();
  cause.index = static_cast<int>(value["index"].as_int(-1));
  cause.pod = value["pod"].as_string();
  cause.failed = static_cast<int>(value["failed"].as_int());
  if (value["exitCode"].is_number()) cause.exit_code = static_cast<int>(value["exitCode"].as_int());
  cause.reason = value["reason"].as_string();
  cause.text = value["text"].as_string();
  cause.at = read_time(value["at"]);
  return cause;
}

json::Value limits_to_json(const Limits& limits) {
  json::Object out;
  if (limits.deadline_seconds) out.set("activeDeadlineSeconds", *limits.deadline_seconds);
  if (limits.ttl_seconds) out.set("ttlSecondsAfterFinished", *limits.ttl_seconds);
  if (limits.backoff) out.set("backoffLimit", *limits.backoff);
  return out;
}

Limits limits_from_json(const json::Value& value) {
  return {.deadline_seconds = read_int(value["activeDeadlineSeconds"]),
          .ttl_seconds = read_int(value["ttlSecondsAfterFinished"]),
          .backoff = read_int(value["backoffLimit"])};
}

json::Value counts_to_json(const Counts& counts) {
  json::Object out;
  for (const auto& [role, count] : counts) {
    out.set(role, json::Object{{"active", count.active},
                               {"pending", count.pending},
                               {"succeeded", count.succeeded},
                               {"failed", count.failed},
                               {"restarts", count.restarts}});
  }
  return out;
}

Counts counts_from_json(const json::Value& value) {
  Counts counts;
  for (const auto& [role, count] : value.as_object()) {
    counts[role] = {.active = static_cast<int>(count["active"].as_int()),
                    .pending = static_cast<int>(count["pending"].as_int()),
                    .succeeded = static_cast<int>(count["succeeded"].as_int()),
                    .failed = static_cast<int>(count["failed"].as_int()),
                    .restarts = count["restarts"].as_int()};
  }
  return counts;
}

// A sparse map: left out when it is empty.
template <class T, class Write>
void set_map(json::Object& out, std::string_view key, const std::map<std::string, T>& map,
             Write write) {
  if (map.empty()) return;
  json::Object members;
  for (const auto& [name, value] : map) members.set(name, write(value));
  out.set(key, std::move(members));
}

}  // namespace

std::string_view to_string(Phase phase) {
  return kPhases[static_cast<std::size_t>(phase)];
}
std::string_view to_string(CauseKind kind) {
  return kCauses[static_cast<std::size_t>(kind)];
}

std::string rank_key(std::string_view role, int index) {
  return fmt::format("{}/{}", role, index);
}

json::Value Ledger::to_json() const {
  json::Object out;
  out.set("phase", to_string(phase));
  out.set("observedGeneration", observed_generation);
  if (epoch != 0) out.set("epoch", epoch);
  if (start_time) out.set("startTime", time_value(*start_time));
  if (completion_time) out.set("completionTime", time_value(*completion_time));
  set_map(out, "attempts", attempts, [](std::int64_t n) { return json::Value(n); });
  set_map(out, "retired", retired, [](std::int64_t n) { return json::Value(n); });
  set_map(out, "restarts", restarts, [](std::int64_t n) { return json::Value(n); });
  set_map(out, "notBefore", not_before, time_value);
  set_map(out, "replaced", replaced, [](const std::string& uid) { return json::Value(uid); });
  if (cause) out.set("cause", cause_to_json(*cause));
  if (limits != Limits{}) out.set("limits", limits_to_json(limits));
  if (is_terminal(phase)) out.set("final", counts_to_json(final_counts));
  return out;
}

Ledger Ledger::from_json(const json::Value& value) {
  Ledger ledger;
  ledger.phase = named<Phase>(kPhases, value["phase"].as_string());
  ledger.observed_generation = value["observedGeneration"].as_int();
  ledger.epoch = value["epoch"].as_int();
  ledger.start_time = read_time(value["startTime"]);
  ledger.completion_time = read_time(value["completionTime"]);
  for (const auto& [key, count] : value["attempts"].as_object())
    ledger.attempts[key] = count.as_int();
  for (const auto& [key, count] : value["retired"].as_object())
    ledger.retired[key] = count.as_int();
  for (const auto& [key, count] : value["restarts"].as_object())
    ledger.restarts[key] = count.as_int();
  for (const auto& [key, time] : value["notBefore"].as_object()) {
    if (const auto at = read_time(time)) ledger.not_before[key] = *at;
  }
  for (const auto& [key, uid] : value["replaced"].as_object())
    ledger.replaced[key] = uid.as_string();
  if (value["cause"].is_object()) ledger.cause = cause_from_json(value["cause"]);
  ledger.limits = limits_from_json(value["limits"]);
  ledger.final_counts = counts_from_json(value["final"]);
  return ledger;
}

}  // namespace muster::plan
