#pragma once

#include <functional>
#include <string>

#include "api/requests.h"
#include "api/resource.h"
#include "cli/jobs/job_view.h"
#include "json/value.h"
#include "plan/dialect.h"

namespace muster::cli {

// What can be followed to its end: a job of some kind, or a pod by itself.
struct Followed {
  api::Resource resource;
  api::ObjectKey key;
  std::string uid;
  api::Selection pods;  // those that belong to it
  std::function<JobView(const json::Value&)> view;
  const plan::Dialect* dialect = nullptr;  // of a job

  // Its name as commands take it.
  [[nodiscard]] std::string spelling() const {
    return dialect == nullptr ? "pods/" + key.name : key.name;
  }

  // The dialect outlives it.
  static Followed job(const json::Value& job, const plan::Dialect& dialect);
  static Followed pod(const json::Value& pod);
  // A pod whose maker waits for the end of one run: pod_run_view().
  static Followed one_run_of(const json::Value& pod);
};

// A pod as people look at a job: one rank, and the container that failed first as the cause.
JobView pod_view(const json::Value& pod);

// The same for whoever ran it and waits for its end: that of a pod that is always started again has
// come when each of its containers has ended once.
JobView pod_run_view(const json::Value& pod);
// Whether that end is not the pod's own: it would go on for ever.
bool outlives_its_run(const json::Value& pod);

}  // namespace muster::cli
