#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "api/resource.h"
#include "dialects/check/fields.h"
#include "dialects/template/labels.h"
#include "dialects/template/pod_editor.h"
#include "json/value.h"
#include "plan/plan.h"

// spec.scheduler.t9kScheduler: the queue that a job waits in, on clusters with T9k's scheduler and
// on our own.
namespace muster::dialects::t9k {

struct Scheduler {
  std::string queue;
  std::int64_t priority = 0;
};

// Its rows below spec.scheduler.
void add_scheduler(FieldTable& table);

// Nothing where the block is absent: the cluster's default scheduler places the pods.
std::optional<Scheduler> read_scheduler(const json::Value& scheduler);

// PodGroups of T9k's scheduler.
const api::Resource& pod_groups();

// The group of all pods of a job. It goes with them when the job is paused and when it has ended.
plan::Object make_pod_group(const plan::JobRef& job, const Scheduler& scheduler, int members);

// Labels and the scheduler's name in the pods of a role.
Labels scheduler_labels(const plan::JobRef& job, const Scheduler& scheduler, std::string_view role);
void set_scheduler_name(PodEditor& pod);

}  // namespace muster::dialects::t9k
