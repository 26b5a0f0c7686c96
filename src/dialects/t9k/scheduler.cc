#include "dialects/t9k/scheduler.h"

namespace muster::dialects::t9k {
namespace {

constexpr auto kFields = std::to_array<Field>({
    {.path = "", .type = Type::Object, .doc = "Who places the pods; by default the cluster does."},
    {.path = "t9kScheduler",
     .type = Type::Object,
     .doc = "All pods of the job are placed together, from a queue: by T9k's scheduler, or by "
            "Muster's own where there is no other."},
    {.path = "t9kScheduler.queue",
     .type = Type::String,
     .required = true,
     .format = Format::LabelValue,
     .doc = "The queue that the job waits in."},
    {.path = "t9kScheduler.priority",
     .type = Type::Int32,
     .fallback = "0",
     .minimum = 0,
     .maximum = 100,
     .doc = "From 0 to 100; in its queue the job with the higher number is first."},
});

}  // namespace

void add_scheduler(FieldTable& table) {
  table.add("spec.scheduler", kFields);
}

std::optional<Scheduler> read_scheduler(const json::Value& scheduler) {
  const json::Value& block = scheduler["t9kScheduler"];
  if (!block.is_object()) return std::nullopt;
  return Scheduler{.queue = block["queue"].as_string(), .priority = block["priority"].as_int()};
}

const api::Resource& pod_groups() {
  static const api::Resource resource{.group = "scheduler.tensorstack.dev",
                                      .version = "v1beta1",
                                      .plural = "podgroups",
                                      .kind = "PodGroup",
                                      .scope = api::Scope::Namespaced};
  return resource;
}

plan::Object make_pod_group(const plan::JobRef& job, const Scheduler& scheduler, int members) {
  plan::Object out{.id = {.resource = pod_groups(), .name = job.name},
                   .until = plan::Until::Hold,
                   .ends_with_job = true};
  out.body = json::Object{{"apiVersion", pod_groups().api_version()},
                          {"kind", pod_groups().kind},
                          {"spec", json::Object{{"minMember", members},
                                                {"queue", scheduler.queue},
                                                {"priority", scheduler.priority}}}};
  return out;
}

Labels scheduler_labels(const plan::JobRef& job, const Scheduler& scheduler,
                        std::string_view role) {
  return {{"scheduler.tensorstack.dev/group-name", {job.name}},
          {"scheduler.tensorstack.dev/queue", {scheduler.queue}},
          {"scheduler.tensorstack.dev/role", {std::string(role)}}};
}

void set_scheduler_name(PodEditor& pod) {
  pod.spec()["schedulerName"] = "t9k-scheduler";
}

}  // namespace muster::dialects::t9k
