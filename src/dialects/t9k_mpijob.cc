// T9k's MPIJob, batch.tensorstack.dev/v1beta1: workers in which ranks run, and a launcher from
// which mpirun starts them.
#include "dialects/check/checked_dialect.h"
#include "dialects/check/pod_template.h"
#include "dialects/kinds.h"
#include "dialects/mpi/setup.h"
#include "dialects/t9k/events.h"
#include "dialects/t9k/status.h"
#include "dialects/t9k_mpi/children.h"
#include "dialects/t9k_mpi/fields.h"
#include "dialects/t9k_mpi/job.h"
#include "dialects/t9k_mpi/rules.h"

namespace muster::dialects {
namespace {

using namespace t9k_mpi;
using plan::RankSet;

plan::Identity make_identity() {
  return {.resource = {.group = "batch.tensorstack.dev",
                       .version = "v1beta1",
                       .plural = "mpijobs",
                       .kind = "MPIJob",
                       .scope = api::Scope::Namespaced},
          .singular = "mpijob",
          .short_names = {"mj"},
          .categories = {"training", "all"},
          .controller_name = "mpijob-controller",
          .framework = "mpi",
          .children = {api::services(), api::config_maps()},
          .optional_children = {t9k::pod_groups()},
          .makes_secrets = true,
          .columns = {{"Phase", ".status.phase", "string"}},
          .suspend_path = "spec.runMode.pause.enabled"};
}

class T9kMpiJob final : public CheckedDialect {
 public:
  explicit T9kMpiJob(const Settings& settings)
      : agent_image_(settings.agent_image),
        identity_(make_identity()),
        job_table_(job_fields()),
        pod_table_(pod_template_fields()) {}

  [[nodiscard]] const plan::Identity& identity() const override { return identity_; }
  [[nodiscard]] json::Value schema() const override { return t9k_mpi::schema(); }
  [[nodiscard]] bool manages(const json::Value& /*job*/) const override { return true; }

  [[nodiscard]] Findings examine(const json::Value& job) const override {
    Findings findings;
    job_table_.check(job, Path(), findings);
    check_job(decode(identity_.resource, job), pod_table_, findings);
    return findings;
  }

  [[nodiscard]] std::vector<FieldCause> validate_update(const json::Value& old,
                                                        const json::Value& job) const override {
    Findings findings;
    t9k::check_run_mode_update(old["spec"]["runMode"], job["spec"]["runMode"], Path("spec.runMode"),
                               findings);
    std::vector<FieldCause> causes;
    for (const Violation& violation : findings.violations) causes.push_back(violation.cause());
    return causes;
  }

  [[nodiscard]] json::Value status(const plan::Plan& plan, const json::Value& stored,
                                   const plan::Verdict& verdict, Time now) const override {
    return t9k::make_status(plan, kLauncher, stored, verdict, now);
  }
  [[nodiscard]] plan::StoredPhase phase_of(const json::Value& status) const override {
    return t9k::phase_of(status);
  }
  [[nodiscard]] std::optional<plan::EventText> event_for(const plan::JobRef& job,
                                                         const plan::Note& note) const override {
    return t9k::event_for(job, note);
  }

 protected:
  [[nodiscard]] plan::Plan make_plan(const json::Value& job) const override {
    const Job decoded = decode(identity_.resource, job);
    const mpi::Setup setup{.job = decoded.ref,
                           .service = decoded.service(),
                           .agent_image = agent_image_,
                           .sshd = decoded.sshd};
    plan::Plan out;
    out.job = decoded.ref;
    out.warnings = warnings_of(decoded);
    out.warnings.insert(out.warnings.begin(), t9k::created(out.job));
    out.objects = {mpi::make_key(setup), make_host_file(decoded),
                   mpi::make_service(setup, worker_selector(decoded))};
    if (decoded.scheduler) {
      out.objects.push_back(t9k::make_pod_group(out.job, *decoded.scheduler, decoded.total()));
    }
    out.roles = {make_launcher(decoded, setup, out.warnings),
                 make_worker(decoded, setup, out.warnings)};
    for (plan::Role& role : out.roles) {
      for (const plan::Object& object : out.objects) role.after.push_back(object.id);
    }
    set_end_rules(decoded, out);
    set_gang(decoded, out);
    out.hold = decoded.run_mode.paused;
    out.run_key = decoded.run_key();
    out.fixed = t9k::fixed_run_mode(decoded.spec()["runMode"]);
    out.reports_ranks = true;
    return out;
  }

 private:
  // Workers never end by themselves: the launcher decides. Who is debugged decides nothing.
  static void set_end_rules(const Job& job, plan::Plan& out) {
    out.running = plan::all_of_every_role(RankSet::Outcome::Running);
    if (job.run_mode.debug) return;
    out.success = {plan::rank_of(std::string(kLauncher), 0, RankSet::Outcome::Succeeded)};
    out.failure = {plan::any_of(std::string(kLauncher), RankSet::Outcome::Failed),
                   plan::any_of(std::string(kWorker), RankSet::Outcome::Failed)};
  }

  // The launcher waits for all workers inside of its pod, so all need a place at once.
  static void set_gang(const Job& job, plan::Plan& out) {
    out.gang = {.minimum = job.total()};
    if (!job.scheduler) return;
    out.gang->queue = job.scheduler->queue;
    out.gang->priority = job.scheduler->priority;
  }

  const std::string agent_image_;
  const plan::Identity identity_;
  const FieldTable job_table_;
  const FieldTable pod_table_;
};

}  // namespace

std::unique_ptr<const plan::Dialect> make_t9k_mpijob(const Settings& settings) {
  return std::make_unique<T9kMpiJob>(settings);
}

}  // namespace muster::dialects
