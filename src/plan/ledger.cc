#include "plan/ledger.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/strings.h"

namespace muster::plan {
namespace {

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
  cause.kind = cause_kind_named(value["kind"].as_string());
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

// Ranks by what they share: {"1": "0-9998", "2": "9999"}.
template <class T, class Write>
json::Value grouped(const std::map<T, IndexSet>& groups, Write write) {
  json::Object out;
  for (const auto& [value, indexes] : groups) out.append(write(value), indexes.text());
  return out;
}

template <class T, class Read>
std::map<T, IndexSet> read_groups(const json::Value& groups, Read read) {
  std::map<T, IndexSet> out;
  for (const auto& [text, indexes] : groups.as_object()) {
    if (const std::optional<T> value = read(text))
      out[*value] = IndexSet::parse(indexes.as_string());
  }
  return out;
}

// Times that are written alike are one group.
std::map<Time, IndexSet> by_time(const std::map<int, Time>& times) {
  std::map<Time, IndexSet> groups;
  for (const auto& [index, time] : times)
    groups[std::chrono::floor<std::chrono::microseconds>(time)].insert(index);
  return groups;
}

std::optional<std::int64_t> read_attempt(std::string_view text) {
  const auto number = parse_int(text);
  return number && *number > 0 ? number : std::nullopt;
}

std::optional<Time> read_time_text(const std::string& text) {
  return read_time(json::Value(text));
}

// One member of the ledger: what it holds by role, left out where a role has nothing to say.
template <class Write>
void set_by_role(json::Object& out, std::string_view key, const Ledger& ledger, Write write) {
  json::Object members;
  for (const auto& [name, role] : ledger.roles) {
    json::Value value = write(role);
    const bool nothing = value == json::Value(0) || value == json::Value("") ||
                         (value.is_object() && value.as_object().empty());
    if (!nothing) members.append(name, std::move(value));
  }
  if (!members.empty()) out.set(key, std::move(members));
}

// A ledger of the form before index ranges had "Worker/3" as keys.
struct RankKey {
  std::string role;
  int index = 0;
};

std::optional<RankKey> rank_key(std::string_view key) {
  const auto slash = key.rfind('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const auto index = parse_int(key.substr(slash + 1));
  if (!index || *index < 0 || *index > 1'000'000) return std::nullopt;
  return RankKey{.role = std::string(key.substr(0, slash)), .index = static_cast<int>(*index)};
}

void read_attempts(const json::Value& value, Ledger& ledger) {
  for (const auto& [key, entry] : value.as_object()) {
    if (const auto rank = rank_key(key)) {
      ledger.roles[rank->role].attempts.set(rank->index, entry.as_int());
    } else {
      ledger.roles[key].attempts =
          IndexCounts::from(read_groups<std::int64_t>(entry, read_attempt));
    }
  }
}

void read_not_before(const json::Value& value, Ledger& ledger) {
  for (const auto& [key, entry] : value.as_object()) {
    if (const auto rank = rank_key(key)) {
      if (const auto at = read_time(entry)) ledger.roles[rank->role].not_before[rank->index] = *at;
    } else {
      for (const auto& [time, indexes] : read_groups<Time>(entry, read_time_text)) {
        for (const int index : indexes.values()) ledger.roles[key].not_before[index] = time;
      }
    }
  }
}

void read_recovering(const json::Value& value, Ledger& ledger) {
  for (const auto& [role, indexes] : value["recovering"].as_object())
    ledger.roles[role].recovering = IndexSet::parse(indexes.as_string());
  for (const auto& [key, uid] : value["replaced"].as_object()) {
    if (const auto rank = rank_key(key)) ledger.roles[rank->role].recovering.insert(rank->index);
  }
}

void read_sums(const json::Value& value, Ledger& ledger) {
  for (const auto& [role, sum] : value["retired"].as_object())
    ledger.roles[role].retired = sum.as_int();
  for (const auto& [role, sum] : value["restarts"].as_object())
    ledger.roles[role].restarts = sum.as_int();
  for (const auto& [role, sum] : value["disruptions"].as_object())
    ledger.roles[role].disruptions = sum.as_int();
}

void read_memory(const json::Value& value, Ledger& ledger) {
  for (const auto& [role, indexes] : value["done"].as_object())
    ledger.roles[role].done = IndexSet::parse(indexes.as_string());
  for (const auto& [role, indexes] : value["seen"].as_object())
    ledger.roles[role].seen = IndexSet::parse(indexes.as_string());
  for (const auto& [role, count] : value["failuresInARow"].as_object())
    ledger.roles[role].failures_in_a_row = count.as_int();
  for (const auto& [role, time] : value["pauseUntil"].as_object())
    ledger.roles[role].pause_until = read_time(time);
}

}  // namespace

bool Ledger::recovering() const {
  return std::ranges::any_of(roles,
                             [](const auto& entry) { return !entry.second.recovering.empty(); });
}

std::int64_t Ledger::restarts() const {
  std::int64_t sum = 0;
  for (const auto& [name, role] : roles) sum += role.restarts;
  return sum;
}

std::string Ledger::changed(const Plan& plan) const {
  for (const auto& [path, content] : fixed) {
    const auto found = plan.fixed.find(path);
    if (found == plan.fixed.end() || found->second != content) return path;
  }
  return {};
}

json::Value Ledger::to_json() const {
  json::Object out;
  out.set("phase", to_string(phase));
  out.set("observedGeneration", observed_generation);
  if (epoch != 0) out.set("epoch", epoch);
  if (!run_key.empty()) out.set("runKey", run_key);
  if (resumed != 0) out.set("resumed", resumed);
  if (start_time) out.set("startTime", time_value(*start_time));
  if (completion_time) out.set("completionTime", time_value(*completion_time));
  set_by_role(out, "attempts", *this, [](const RoleLedger& role) {
    return grouped(role.attempts.groups(), [](std::int64_t n) { return std::to_string(n); });
  });
  set_by_role(out, "notBefore", *this, [](const RoleLedger& role) {
    return grouped(by_time(role.not_before), format_micro_time);
  });
  set_by_role(out, "recovering", *this,
              [](const RoleLedger& role) { return json::Value(role.recovering.text()); });
  set_by_role(out, "retired", *this,
              [](const RoleLedger& role) { return json::Value(role.retired); });
  set_by_role(out, "restarts", *this,
              [](const RoleLedger& role) { return json::Value(role.restarts); });
  set_by_role(out, "disruptions", *this,
              [](const RoleLedger& role) { return json::Value(role.disruptions); });
  set_by_role(out, "done", *this,
              [](const RoleLedger& role) { return json::Value(role.done.text()); });
  set_by_role(out, "seen", *this,
              [](const RoleLedger& role) { return json::Value(role.seen.text()); });
  set_by_role(out, "failuresInARow", *this,
              [](const RoleLedger& role) { return json::Value(role.failures_in_a_row); });
  set_by_role(out, "pauseUntil", *this, [](const RoleLedger& role) {
    return role.pause_until ? time_value(*role.pause_until) : json::Value("");
  });
  if (cause) out.set("cause", cause_to_json(*cause));
  json::Object fixed_fields;
  for (const auto& [path, content] : fixed) fixed_fields.set(path, content);
  if (!fixed_fields.empty()) out.set("fixed", std::move(fixed_fields));
  if (limits != Limits{}) out.set("limits", limits_to_json(limits));
  if (is_terminal(phase)) out.set("final", counts_to_json(final_counts));
  if (!remark.empty()) out.set("remark", printable(remark));
  if (!blocked.empty()) out.set("blockedOnNode", blocked_to_json(blocked));
  return out;
}

Ledger Ledger::from_json(const json::Value& value) {
  Ledger ledger;
  ledger.phase = phase_named(value["phase"].as_string());
  ledger.observed_generation = value["observedGeneration"].as_int();
  ledger.epoch = value["epoch"].as_int();
  ledger.run_key = value["runKey"].as_string();
  ledger.resumed = value["resumed"].as_int();
  ledger.start_time = read_time(value["startTime"]);
  ledger.completion_time = read_time(value["completionTime"]);
  read_attempts(value["attempts"], ledger);
  read_not_before(value["notBefore"], ledger);
  read_recovering(value, ledger);
  read_sums(value, ledger);
  read_memory(value, ledger);
  if (value["cause"].is_object()) ledger.cause = cause_from_json(value["cause"]);
  for (const auto& [path, content] : value["fixed"].as_object()) {
    ledger.fixed[path] = content.as_string();
  }
  ledger.limits = limits_from_json(value["limits"]);
  ledger.final_counts = counts_from_json(value["final"]);
  ledger.remark = value["remark"].as_string();
  ledger.blocked = blocked_from_json(value["blockedOnNode"]);
  return ledger;
}

json::Value muster_status(const Plan& plan, const json::Value& old, const Verdict& verdict) {
  json::Value out = verdict.ledger.to_json();
  if (!verdict.waiting_for.empty()) out["waitingFor"] = printable(verdict.waiting_for);
  if (plan.roles.empty()) {
    for (const char* shown : {"ranks", "restartCount", "selector"}) {
      if (!old[shown].is_null()) out[shown] = old[shown];
    }
    return out;
  }
  int up = 0;
  std::int64_t restarts = 0;
  for (const auto& [role, count] : verdict.counts) {
    up += count.active + count.succeeded;
    restarts += count.restarts;
  }
  out["ranks"] = fmt::format("{}/{}", up, plan.total_replicas());
  out["restartCount"] = restarts;
  if (!plan.selector.empty()) out["selector"] = plan.selector;
  return out;
}

}  // namespace muster::plan
