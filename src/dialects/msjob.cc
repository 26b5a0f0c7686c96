// MSJob, mindspore.gitee.com/v1: a Scheduler at which the ranks meet, parameter servers, Workers.
// What is not here every kind of the Kubeflow family does.
#include <array>

#include <fmt/format.h>

#include "base/strings.h"
#include "dialects/kinds.h"
#include "dialects/kubeflow/dialect.h"

namespace muster::dialects {
namespace {

using namespace kubeflow;
using plan::RankSet;

constexpr std::string_view kScheduler = "Scheduler";
constexpr std::string_view kServer = "PS";
constexpr std::string_view kWorker = "Worker";

constexpr auto kFields = std::to_array<Field>({
    {.path = "spec.msReplicaSpecs",
     .type = Type::Map,
     .required = true,
     .maximum = 16,
     .hint = "the roles Scheduler, PS and Worker",
     .doc = "The roles of the job: Scheduler (0 or 1), PS and Worker (at least 1), in any spelling "
            "of upper and lower case. Example: {Scheduler: {template: …}, Worker: {replicas: 4, "
            "template: …}}"},
    {.path = "spec.msReplicaSpecs.*.template",
     .type = Type::Open,
     .doc =
         "The pod template; every field that Kubernetes knows may stand in it. One container "
         "must be named mindspore; a port named msjob-port changes the Scheduler's port (default "
         "2222)."},
    {.path = "spec.successPolicy",
     .type = Type::String,
     .allowed = "|AllWorkers",
     .doc = "Empty (default): the job succeeds when Worker 0 or all Workers have succeeded. "
            "AllWorkers: when all have."},
    {.path = "spec.enableDynamicWorker",
     .type = Type::Bool,
     .fallback = "false",
     .doc = "Lets Workers fail without failing the job, as long as one can still succeed."},
});

const Kind& kind() {
  static const Kind fixed{
      .name = "MSJob",
      .plural = "msjobs",
      .group = "mindspore.gitee.com",
      .short_names = {"msj"},
      .framework = "mindspore",
      .foreign_lease = "4725f7c4.gitee.com",
      .doc =
          "A distributed MindSpore training job, made of a Scheduler, parameter servers and "
          "Workers.",
      .replicas = {.field = "msReplicaSpecs"},
      .roles = {{.name = kScheduler, .most = 1, .why = "all ranks meet at one Scheduler"},
                {.name = kServer},
                {.name = kWorker,
                 .least = 1,
                 .required = true,
                 .why = "without a Worker the job could never succeed"}},
      .fields = kFields,
      .container = {.name = "mindspore", .port = {.name = "msjob-port", .number = 2222}},
      .services = {.role = kScheduler},
      .restart = RestartPolicy::Never,
      .clean_up = plan::CleanUp::Running,
      .retryable = {.listed = {130, 137, 138, 143}},
      .scales = kWorker};
  return fixed;
}

class MSJob final : public kubeflow::Dialect {
 public:
  MSJob() : Dialect(kind()) {}

 private:
  // The names that labels had before they got a prefix; selectors of users still have them.
  [[nodiscard]] Labels own_labels(const Job& job, const RoleSpec& role) const override {
    return {{"group-name", {job.ref.resource.group}},
            {"job-name", {job.ref.name}},
            {"replica-type", {to_lower(role.name)}},
            {"replica-index", {plan::Ordinal{}}}};
  }

  // The jobs of this kind meet through the Scheduler; without one nothing is injected.
  void inject(const Job& job, const RoleSpec& role, PodEditor& pod) const override {
    if (job.replicas(kScheduler) == 0) return;
    EnvEditor env = pod.env(job.main_container(role));
    const bool names_nodes = env.has("MS_NODE_ID");  // who names the nodes wants those names
    if (role.name == kScheduler) {
      env.set_from_field("MS_SCHED_HOST", "status.podIP");
    } else {
      env.set("MS_SCHED_HOST", plan::ServiceIp{job.pod_name(kScheduler, 0)});
    }
    if (!names_nodes) env.set_from_field("MS_NODE_ID", "metadata.name");
    env.set("MS_SCHED_PORT", fmt::to_string(job.port(*job.role(kScheduler))));
    env.set("MS_SERVER_NUM", fmt::to_string(job.replicas(kServer)));
    env.set("MS_WORKER_NUM", fmt::to_string(job.replicas(kWorker)));
    env.set("MS_ROLE", role_variable(role.name));
  }

  static std::string role_variable(std::string_view role) {
    if (role == kScheduler) return "MS_SCHED";
    return role == kServer ? "MS_PSERVER" : "MS_WORKER";
  }

  void set_end_rules(const Job& job, plan::Plan& out) const override {
    const std::string worker(kWorker);
    const bool all_workers = job.spec()["successPolicy"].as_string() == "AllWorkers";
    if (!all_workers) out.success.push_back(plan::rank_of(worker, 0, RankSet::Outcome::Succeeded));
    out.success.push_back(plan::all_of(worker, RankSet::Outcome::Succeeded));
    out.running = plan::any_of(worker, RankSet::Outcome::Running);
    out.tie = all_workers ? plan::Tie::FailureWins : plan::Tie::SuccessWins;
    fail_on_any_role(job, out);
    if (!job.spec()["enableDynamicWorker"].as_bool()) return;
    // Ends the job when no Worker is left that could succeed. All of them having succeeded
    // satisfies this too, so success has to win.
    std::erase_if(out.failure, [](const RankSet& set) { return set.role == kWorker; });
    out.failure.push_back(plan::all_of(worker, RankSet::Outcome::Finished));
    out.tie = plan::Tie::SuccessWins;
  }

  void complete(const Job& job, plan::Plan& out) const override {
    const int others = job.replicas(kServer) + job.replicas(kWorker);
    if (job.replicas(kScheduler) > 0 || others < 2) return;
    out.warnings.push_back(
        {.reason = "NoScheduler",
         .message =
             fmt::format("{} ranks but no Scheduler: no MS_* variables are set, so the ranks "
                         "cannot find each other; add the role Scheduler",
                         others)});
  }
};

}  // namespace

std::unique_ptr<const plan::Dialect> make_msjob() {
  return std::make_unique<MSJob>();
}

}  // namespace muster::dialects
