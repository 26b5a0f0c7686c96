#include "controller/metrics.h"

#include <string_view>

#include <fmt/format.h>

#include "api/object.h"
#include "base/exposition.h"
#include "base/strings.h"

namespace muster::controller {
namespace {

using exposition::Type;
using plan::Note;
using plan::Phase;

constexpr std::array kPhases = {Phase::Created,   Phase::Running,   Phase::Restarting,
                                Phase::Suspended, Phase::Succeeded, Phase::Failed};

// One of those that we run, as it was last stored.
Phase phase_of(const plan::Dialect& dialect, const json::Value& job) {
  const json::Value& status = job["status"];
  const json::Value& ledger = status[plan::kStatusKey];
  return ledger.is_object() ? plan::phase_named(ledger["phase"].as_string())
                            : dialect.phase_of(status).phase;
}

// Looks at every job: about a microsecond each, so 10,000 keep the loop for a tenth of what it is
// warned of.
std::array<std::uint64_t, kPhases.size()> by_phase(const Kind& kind) {
  std::array<std::uint64_t, kPhases.size()> counts{};
  for (const auto& [key, job] : kind.jobs.all()) {
    if (kind.dialect->manages(*job))
      ++counts[static_cast<std::size_t>(phase_of(*kind.dialect, *job))];
  }
  return counts;
}

void append_jobs(std::string& out, const std::vector<std::unique_ptr<Kind>>& kinds) {
  exposition::open(out, "muster_jobs", Type::Gauge,
                   "Jobs that there are, by kind and state; those of the leader count.");
  for (const auto& kind : kinds) {
    const auto counts = by_phase(*kind);
    for (const Phase phase : kPhases) {
      exposition::sample(
          out, "muster_jobs",
          {{"kind", kind->resource().qualified()}, {"state", plan::to_string(phase)}},
          counts[static_cast<std::size_t>(phase)]);
    }
  }
}

void append_looks(std::string& out, const std::vector<std::unique_ptr<Kind>>& kinds) {
  constexpr std::string_view kTotal = "controller_runtime_reconcile_total";
  constexpr std::string_view kErrors = "controller_runtime_reconcile_errors_total";
  constexpr std::string_view kTime = "controller_runtime_reconcile_time_seconds";
  exposition::open(out, kTotal, Type::Counter, "Looks at jobs by how they ended.");
  for (const auto& kind : kinds) {
    const std::string name = kind->resource().qualified();
    exposition::sample(out, kTotal, {{"controller", name}, {"result", "success"}},
                       kind->looks_taken.count() - kind->looks_failed);
    exposition::sample(out, kTotal, {{"controller", name}, {"result", "error"}},
                       kind->looks_failed);
  }
  exposition::open(out, kErrors, Type::Counter, "Looks at jobs that failed and are tried again.");
  for (const auto& kind : kinds) {
    exposition::sample(out, kErrors, {{"controller", kind->resource().qualified()}},
                       kind->looks_failed);
  }
  exposition::open(out, kTime, Type::Histogram, "How long looks at jobs took, with all they did.");
  for (const auto& kind : kinds)
    kind->looks_taken.append(out, kTime, {{"controller", kind->resource().qualified()}});
}

}  // namespace

void Metrics::count(Job what, const std::string& framework, const std::string& ns) {
  std::pair<std::string, std::string> labels{framework, ns};
  if (jobs_.size() >= kMostPairs && !jobs_.contains(labels)) labels.second = kOtherNamespaces;
  ++jobs_[labels][static_cast<std::size_t>(what)];
}

void Metrics::count(const std::vector<Note>& notes) {
  for (const Note& note : notes) {
    const auto folded = static_cast<std::uint64_t>(parse_int(note.subject).value_or(0));
    if (note.kind == Note::Kind::PodCreated) ++created_pods_;
    if (note.kind == Note::Kind::PodsCreated) created_pods_ += folded;
    if (note.kind == Note::Kind::PodDeleted) ++deleted_pods_;
    if (note.kind == Note::Kind::PodsDeleted) deleted_pods_ += folded;
    if (note.kind == Note::Kind::CreateFailed) ++not_created_[note.object_kind];
  }
}

std::string Metrics::text() const {
  constexpr std::array<std::string_view, 5> kNames = {"created", "deleted", "successful", "failed",
                                                      "restarted"};
  std::string out;
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    const std::string name = fmt::format("training_operator_jobs_{}_total", kNames[i]);
    exposition::open(out, name, Type::Counter, fmt::format("Jobs {}.", kNames[i]));
    for (const auto& [labels, values] : jobs_) {
      exposition::sample(out, name, {{"framework", labels.first}, {"job_namespace", labels.second}},
                         values[i]);
    }
  }
  exposition::figure(out, "created_pods_total", Type::Counter, "Pods created.", created_pods_);
  exposition::figure(out, "deleted_pods_total", Type::Counter, "Pods deleted.", deleted_pods_);
  exposition::open(out, "muster_creations_failed_total", Type::Counter,
                   "Objects of jobs that could not be created, by their kind.");
  for (const auto& [kind, value] : not_created_)
    exposition::sample(out, "muster_creations_failed_total", {{"kind", kind}}, value);
  return out;
}

void append_reflectors(std::string& out, const std::vector<Followed>& all) {
  const auto sample = [&](std::string_view name, const cluster::Reflector& one, auto value) {
    exposition::sample(
        out, name, {{"resource", one.resource().qualified()}, {"version", one.resource().version}},
        value);
  };
  const auto each = [&](std::string_view name, auto&& value_of) {
    for (const Followed& one : all) sample(name, *one.reflector, value_of(*one.reflector));
  };
  // Neither 0 nor 1 would be true of what is absent and may be; who alerts need not know which.
  exposition::open(
      out, "muster_reflector_in_trouble", Type::Gauge,
      "Whether a resource cannot be listed or watched now; nothing of one that is not installed "
      "and need not be.");
  for (const auto& [reflector, is_dispensable] : all) {
    if (is_dispensable) continue;
    sample("muster_reflector_in_trouble", *reflector, reflector->trouble() ? 1 : 0);
  }
  exposition::open(out, "muster_reflector_failures_total", Type::Counter,
                   "Lists and watches that failed.");
  each("muster_reflector_failures_total",
       [](const cluster::Reflector& one) { return one.failed(); });
  exposition::open(out, "muster_reflector_last_news_timestamp_seconds", Type::Gauge,
                   "When a resource was last listed or its watch last spoke; 0: never.");
  each("muster_reflector_last_news_timestamp_seconds", [](const cluster::Reflector& one) {
    return one.heard_at() ? exposition::seconds(one.heard_at()->time_since_epoch()) : 0.0;
  });
}

void append_kinds(std::string& out, const std::vector<std::unique_ptr<Kind>>& kinds) {
  exposition::open(
      out, "muster_kind_waits_for_crd", Type::Gauge,
      "Whether a kind waits for its CRD; then: kubectl apply --server-side -k deploy/crds.");
  for (const auto& kind : kinds) {
    exposition::sample(
        out, "muster_kind_waits_for_crd",
        {{"kind", kind->resource().qualified()}, {"version", kind->resource().version}},
        kind->is_absent() ? 1 : 0);
  }
  append_jobs(out, kinds);
  append_looks(out, kinds);
}

}  // namespace muster::controller
