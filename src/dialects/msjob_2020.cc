// MSJob as it was in 2020, kubeflow.org/v1: one MASTER and any number of WORKERs that find it by
// name. What is not here every kind of the Kubeflow family does.
#include <array>

#include <fmt/format.h>

#include "api/object.h"
#include "base/strings.h"
#include "dialects/check/values.h"
#include "dialects/kinds.h"
#include "dialects/kubeflow/dialect.h"
#include "json/write.h"

namespace muster::dialects {
namespace {

using namespace kubeflow;
using plan::RankSet;

constexpr std::string_view kMaster = "MASTER";
constexpr std::string_view kWorker = "WORKER";
constexpr std::string_view kExposeBackend = "muster.dev/expose-backend";

constexpr auto kFields = std::to_array<Field>({
    {.path = "spec.replicaSpecs",
     .type = Type::List,
     .required = true,
     .maximum = 16,
     .hint = "one entry for the MASTER, and one for the WORKERs",
     .doc =
         "The roles of the job: MASTER, with one pod, and WORKER. Example: [{replicaType: MASTER, "
         "template: …}, {replicaType: WORKER, replicas: 3, template: …}]"},
    {.path = "spec.replicaSpecs[].replicaType",
     .type = Type::String,
     .fallback = kMaster,
     .allowed = "|MASTER|WORKER",
     .doc = "The role."},
    {.path = "spec.replicaSpecs[].template",
     .type = Type::Open,
     .doc = "The pod template; every field that Kubernetes knows may stand in it. The container "
            "named mindspore counts, or else the only one. Its restartPolicy is obeyed; default "
            "OnFailure."},
    {.path = "spec.masterPort",
     .type = Type::NumberOrText,
     .fallback = "23456",
     .minimum = 1,
     .maximum = 65535,
     .doc = "The port at which the MASTER listens."},
    {.path = "spec.replicaSpecs[].masterPort",
     .type = Type::NumberOrText,
     .minimum = 1,
     .maximum = 65535,
     .doc = "Of the MASTER: the same, and wins over the job's. Of a WORKER it means nothing."},
    {.path = "spec.backend",
     .type = Type::String,
     .doc = "Name of the communication library. In MS_BACKEND of the containers when the job has "
            "the annotation muster.dev/expose-backend: \"true\"."},
    {.path = "spec.schedulerName",
     .type = Type::String,
     .doc = "The scheduler of all pods, in place of what their templates say."},
    {.path = "spec.msImage", .type = Type::String, .doc = "Accepted; means nothing."},
    {.path = "spec.RuntimeId", .type = Type::String, .doc = "Accepted; means nothing."},
    {.path = "spec.terminationPolicy",
     .type = Type::Object,
     .doc = "Accepted; the MASTER decides, whatever it says."},
    {.path = "spec.terminationPolicy.master", .type = Type::Object, .doc = "Means nothing."},
    {.path = "spec.terminationPolicy.master.replicaName",
     .type = Type::String,
     .allowed = "|MASTER",
     .doc = "MASTER."},
    {.path = "spec.terminationPolicy.master.replicaRank",
     .type = Type::Int32,
     .minimum = 0,
     .maximum = 0,
     .doc = "0."},
});

constexpr auto kStatusFields = std::to_array<Field>({
    {.path = "phase", .type = Type::String, .doc = "Creating, Running, Done or Failed."},
    {.path = "state", .type = Type::String, .doc = "Unknown, Running, Succeeded or Failed."},
});

namespace rules {
inline constexpr Rule kMasterRestart{"master-restart", "FieldValueNotSupported"};
}  // namespace rules

const Kind& kind() {
  static const Kind fixed{
      .name = "MSJob",
      .plural = "msjobs",
      .controller = "ms-operator",
      .framework = "mindspore",
      .doc = "A distributed MindSpore training job of 2020, made of a MASTER and WORKERs.",
      .replicas = {.field = "replicaSpecs", .role_member = "replicaType", .default_role = kMaster},
      .roles = {{.name = kMaster,
                 .least = 1,
                 .most = 1,
                 .required = true,
                 .why = "all ranks meet at one MASTER, and it decides when the job has ended"},
                {.name = kWorker}},
      .fields = kFields,
      .status_fields = kStatusFields,
      .container = {.name = "mindspore",
                    .or_only = true,
                    .port = {.name = "ms-port", .number = 23456}},
      .services = {.job_port_only = true},
      .restart = RestartPolicy::OnFailure,
      .restart_in_template = true};
  return fixed;
}

class MSJob2020 final : public kubeflow::Dialect {
 public:
  MSJob2020() : Dialect(kind()) {}

 private:
  void refine(Job& job) const override {
    const RoleSpec* master = job.role(kMaster);
    for (const json::Value* at : {&job.spec(), master == nullptr ? nullptr : master->spec}) {
      if (at == nullptr) continue;
      if (const auto port = whole_number((*at)["masterPort"])) job.default_port = *port;
    }
  }

  void check(const Job& job, Findings& findings) const override {
    const RoleSpec* master = job.role(kMaster);
    if (master == nullptr || master->restart != RestartPolicy::Always) return;
    findings.refuse(master->path / "template" / "spec" / "restartPolicy", rules::kMasterRestart,
                    "must be OnFailure or Never, not \"Always\": a MASTER that is always started "
                    "again never succeeds");
  }

  [[nodiscard]] Labels own_labels(const Job& job, const RoleSpec& role) const override {
    return {{"kubeflow.org", {std::string()}},
            {"job_type", {role.name}},
            {"ms_job_name", {job.ref.name}},
            {"task_index", {rank(role)}}};
  }

  void inject(const Job& job, const RoleSpec& role, PodEditor& pod) const override {
    EnvEditor env = pod.env(job.main_container(role));
    env.set("MS_CONFIG", config(job, role));
    env.set("MASTER_PORT", fmt::to_string(job.port(*job.role(kMaster))));
    env.set("MASTER_ADDR", role.name == kMaster ? "localhost" : job.pod_name(kMaster, 0));
    env.set("WORLD_SIZE", fmt::to_string(job.total()));
    env.set("RANK", rank(role));
    const auto& backend = job.spec()["backend"].as_string();
    if (!backend.empty() && api::annotation_of(*job.object, kExposeBackend) == "true") {
      env.set("MS_BACKEND", backend);
    }
    const auto& scheduler = job.spec()["schedulerName"].as_string();
    if (!scheduler.empty()) pod.spec()["schedulerName"] = scheduler;
  }

  void set_end_rules(const Job& job, plan::Plan& out) const override {
    out.success = {plan::rank_of(std::string(kMaster), 0, RankSet::Outcome::Succeeded)};
    out.running = plan::any_of(std::string(kMaster), RankSet::Outcome::Running);
    fail_on_any_role(job, out);
  }

  // The words of the status that this kind had; a restarted job runs, a suspended one is not there.
  void add_status(const plan::Verdict& verdict, json::Value& status) const override {
    using plan::Phase;
    const bool runs = verdict.phase == Phase::Running || verdict.phase == Phase::Restarting;
    const bool over = is_terminal(verdict.phase);
    const auto end = to_string(verdict.phase);
    status["phase"] = over ? (verdict.phase == Phase::Succeeded ? "Done" : end)
                           : std::string_view(runs ? "Running" : "Creating");
    status["state"] = over ? end : std::string_view(runs ? "Running" : "Unknown");
  }

  static plan::Ordinal rank(const RoleSpec& role) { return {.base = role.name == kMaster ? 0 : 1}; }

  // {"cluster":{"master":["JOB-master-0:23456"],…},"task":{"type":"worker","index":2},…}
  static plan::Value config(const Job& job, const RoleSpec& role) {
    json::Object cluster;
    for (const RoleSpec& member : job.roles) {
      json::Array addresses;
      for (int i = 0; i < member.replicas; ++i) {
        addresses.emplace_back(
            fmt::format("{}:{}", job.pod_name(member.name, i), job.port(member)));
      }
      cluster.set(to_lower(member.name), std::move(addresses));
    }
    return {fmt::format(R"({{"cluster":{},"task":{{"type":"{}","index":)", json::write(cluster),
                        to_lower(role.name)),
            rank(role), std::string(R"(},"environment":"cloud"})")};
  }
};

}  // namespace

std::unique_ptr<const plan::Dialect> make_msjob_2020() {
  return std::make_unique<MSJob2020>();
}

}  // namespace muster::dialects
