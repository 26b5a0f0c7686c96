#include "dialects/paddle/status.h"

#include <algorithm>
#include <array>

#include "api/object.h"
#include "dialects/paddle/job.h"

namespace muster::dialects::paddle {
namespace {

using plan::Phase;
using Stage = plan::RankReport::Stage;

// 500 references of about 180 bytes are 90 kB a role: three roles fit an object beside all the
// rest, and a status is written often. Whoever wants all 10,000 lists the pods by their labels.
constexpr std::size_t kMostRefs = 500;

constexpr std::array<std::string_view, 6> kCounters = {"pending",   "starting", "running",
                                                       "succeeded", "failed",   "unknown"};

struct Counters {
  std::array<int, kCounters.size()> of_stage{};

  int& of(Stage stage) { return of_stage.at(static_cast<std::size_t>(stage)); }
};

std::string_view mode_of(const plan::Plan& plan) {
  if (plan.role(kServer) != nullptr) return "PS";
  const plan::Role* worker = plan.role(kWorker);
  return worker != nullptr && worker->replicas > 1 ? "Collective" : "Single";
}

// What ran when the job succeeded did its part, so the end counts in the engine's way.
Counters counters_of(const std::string& role, const plan::Verdict& verdict) {
  Counters out;
  if (is_terminal(verdict.phase)) {
    const auto found = verdict.counts.find(role);
    if (found == verdict.counts.end()) return out;
    out.of(Stage::Pending) = found->second.pending;
    out.of(Stage::Running) = found->second.active;
    out.of(Stage::Succeeded) = found->second.succeeded;
    out.of(Stage::Failed) = found->second.failed;
    return out;
  }
  for (const plan::RankReport& rank : verdict.ranks) {
    if (rank.role == role) ++out.of(rank.stage);
  }
  return out;
}

json::Array refs_of(const plan::Role& role, const plan::Verdict& verdict, const std::string& ns) {
  json::Array out;
  for (const plan::RankReport& rank : verdict.ranks) {
    if (rank.role != role.name || out.size() == kMostRefs) continue;
    out.emplace_back(json::Object{{"apiVersion", "v1"},
                                  {"kind", "Pod"},
                                  {"namespace", ns},
                                  {"name", rank.pod},
                                  {"uid", rank.uid}});
  }
  return out;
}

json::Value role_status(const plan::Role& role, const plan::Plan& plan, const json::Value& stored,
                        const plan::Verdict& verdict) {
  json::Object out;
  const Counters counters = counters_of(role.name, verdict);
  for (std::size_t i = 0; i < kCounters.size(); ++i) {
    if (counters.of_stage.at(i) > 0) out.set(kCounters.at(i), counters.of_stage.at(i));
  }
  // After the end nobody looks at pods any more: they stay as they were.
  const bool seen = !is_terminal(verdict.phase) || !verdict.ranks.empty();
  json::Array refs = seen ? refs_of(role, verdict, plan.job.ns) : stored["refs"].as_array();
  if (!refs.empty()) out.set("refs", std::move(refs));
  return out;
}

void set_roles(const plan::Plan& plan, const plan::Verdict& verdict, json::Value& status) {
  for (const std::string_view name : kRoles) {
    const plan::Role* role = plan.role(name);
    if (role == nullptr) {
      status.object().erase(name);
    } else {
      status[name] = role_status(*role, plan, status[name], verdict);
    }
  }
}

// Of a job that goes on: who starts is told before who waits for a place.
std::string_view phase_by_ranks(const plan::Plan& plan, const plan::Verdict& verdict,
                                std::string_view stored) {
  const auto count = [&](Stage stage) {
    return std::ranges::count(verdict.ranks, stage, &plan::RankReport::stage);
  };
  if (count(Stage::Starting) > 0) return "Starting";
  if (count(Stage::Pending) > 0) return "Pending";
  if (count(Stage::Running) == plan.total_replicas()) return "Running";
  const bool begins = verdict.phase == Phase::Created || stored.empty() || stored == "Suspended";
  return begins ? "Pending" : stored;
}

std::string_view phase_text(const plan::Plan& plan, const plan::Verdict& verdict,
                            std::string_view stored) {
  if (verdict.phase == Phase::Succeeded) return "Completed";
  if (verdict.phase == Phase::Failed) return "Failed";
  if (verdict.phase == Phase::Suspended) return "Suspended";
  if (verdict.leaving) return "Terminating";
  // A job whose edit is invalid has no plan: it is what it was.
  if (plan.roles.empty()) return stored.empty() ? "Pending" : stored;
  return phase_by_ranks(plan, verdict, stored);
}

}  // namespace

json::Value make_status(const plan::Plan& plan, const json::Value& stored,
                        const plan::Verdict& verdict, Time now) {
  json::Value status = stored.is_object() ? stored : json::Value(json::Object{});
  const plan::Ledger& ledger = verdict.ledger;
  const std::string_view phase = phase_text(plan, verdict, stored["phase"].as_string());
  status["phase"] = phase;
  if (!plan.roles.empty()) status["mode"] = mode_of(plan);
  if (!plan.roles.empty() && !verdict.leaving) set_roles(plan, verdict, status);
  if (phase == "Running" && stored["startTime"].is_null()) status["startTime"] = format_time(now);
  if (ledger.completion_time) status["completionTime"] = format_time(*ledger.completion_time);
  status["observedGeneration"] = ledger.observed_generation;
  return status;
}

plan::StoredPhase phase_of(const json::Value& status) {
  plan::StoredPhase out{.started = api::time_at(status["startTime"])};
  const std::string& phase = status["phase"].as_string();
  if (phase == "Completed") out.phase = Phase::Succeeded;
  if (phase == "Failed") out.phase = Phase::Failed;
  if (phase == "Suspended") out.phase = Phase::Suspended;
  const bool ran = phase == "Terminating" && out.started;
  if (phase == "Running" || ran) out.phase = Phase::Running;
  return out;
}

}  // namespace muster::dialects::paddle
