#pragma once

#include <string>

#include <fmt/format.h>

#include "base/exposition.h"
#include "cluster/reflector.h"
#include "controller/job_cache.h"
#include "plan/dialect.h"

namespace muster::controller {

// One job kind that the controller runs: its dialect, its jobs, and what follows them. Its jobs are
// looked at once their children are known; a kind whose CRD is absent waits, alone.
struct Kind {
  // Two versions or groups may have kinds of the same name: their keys differ.
  static std::string prefix_of(const api::Resource& resource) {
    return fmt::format("{}/{}|", resource.api_version(), resource.plural);
  }

  Kind(rt::Loop& loop, cluster::Cluster& cluster, const plan::Dialect& of, const std::string& ns,
       Rng& rng, const Logger& log, JobCache::Changed changed)
      : dialect(&of),
        prefix(prefix_of(resource())),
        jobs(std::move(changed)),
        reflector(loop, cluster, resource(), cluster::Selection{.ns = ns}, jobs, rng, log) {
    reflector.set_remedy_for_absence(
        "its CRD is missing: kubectl apply --server-side -k deploy/crds");
  }

  [[nodiscard]] const api::Resource& resource() const { return dialect->identity().resource; }
  [[nodiscard]] std::string queue_key(const api::ObjectKey& job) const {
    return prefix + job.text();
  }
  // The server does not know the kind.
  [[nodiscard]] bool is_absent() const {
    return reflector.trouble() && reflector.trouble()->code == ErrorCode::NotFound;
  }

  const plan::Dialect* dialect;
  std::string prefix;  // of its keys in the queue
  JobCache jobs;
  cluster::Reflector reflector;
  bool running = false;       // its jobs are looked at
  bool keeps_ledger = false;  // the server was seen to store our part of the status
  exposition::Histogram looks_taken;
  std::uint64_t looks_failed = 0;
};

}  // namespace muster::controller
