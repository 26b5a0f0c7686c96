// PaddleJob, batch.paddlepaddle.org/v1: parameter servers, workers and heterogeneous workers, which
// learn of each other from one ConfigMap.
#include "dialects/check/checked_dialect.h"
#include "dialects/check/pod_template.h"
#include "dialects/kinds.h"
#include "dialects/paddle/children.h"
#include "dialects/paddle/events.h"
#include "dialects/paddle/fields.h"
#include "dialects/paddle/job.h"
#include "dialects/paddle/rules.h"
#include "dialects/paddle/status.h"

namespace muster::dialects {
namespace {

using namespace paddle;
using plan::RankSet;

class PaddleJob final : public CheckedDialect {
 public:
  PaddleJob() : job_table_(job_fields()), pod_table_(pod_template_fields()) {}

  [[nodiscard]] const plan::Identity& identity() const override { return identity_; }
  [[nodiscard]] json::Value schema() const override { return paddle::schema(); }
  [[nodiscard]] bool manages(const json::Value& /*job*/) const override { return true; }

  [[nodiscard]] Findings examine(const json::Value& job) const override {
    Findings findings;
    job_table_.check(job, Path(), findings);
    check_job(decode(identity_.resource, job), pod_table_, findings);
    return findings;
  }

  [[nodiscard]] json::Value status(const plan::Plan& plan, const json::Value& stored,
                                   const plan::Verdict& verdict, Time now) const override {
    return make_status(plan, stored, verdict, now);
  }
  [[nodiscard]] plan::StoredPhase phase_of(const json::Value& status) const override {
    return paddle::phase_of(status);
  }
  [[nodiscard]] std::optional<plan::EventText> event_for(const plan::JobRef& job,
                                                         const plan::Note& note) const override {
    return paddle::event_for(job, note);
  }

 protected:
  [[nodiscard]] plan::Plan make_plan(const json::Value& job) const override {
    const Job decoded = decode(identity_.resource, job);
    plan::Plan out;
    out.job = decoded.ref;
    out.warnings = warnings_of(decoded);
    for (const RoleSpec& role : decoded.roles) {
      out.objects.push_back(make_service(decoded, role));
      out.roles.push_back(make_role(decoded, role, out.warnings));
    }
    out.objects.push_back(make_config(decoded));
    set_end_rules(decoded, out);
    set_gang(decoded, out);
    out.run_key = decoded.run_key();
    out.reports_ranks = true;
    return out;
  }

 private:
  // Servers never end by themselves: where there are workers, they decide.
  static void set_end_rules(const Job& job, plan::Plan& out) {
    out.success = {job.replicas(kWorker) > 0
                       ? plan::all_of(std::string(kWorker), RankSet::Outcome::Succeeded)
                       : plan::all_of_every_role(RankSet::Outcome::Succeeded)};
    for (const RoleSpec& role : job.roles) {
      out.failure.push_back(plan::any_of(role.name, RankSet::Outcome::Failed));
    }
    out.tie = plan::Tie::FailureWins;
    out.running = plan::all_of_every_role(RankSet::Outcome::Running);
  }

  // Nobody starts before all have an address, so all need a place at once; elastic ranks do not.
  static void set_gang(const Job& job, plan::Plan& out) {
    const auto& minimum = job.spec()["schedulingPolicy"]["minAvailable"];
    if (minimum.is_int()) {
      out.gang = {.minimum = static_cast<int>(minimum.as_int())};
    } else if (!job.elastic) {
      out.gang = {.minimum = job.total()};
    }
  }

  const plan::Identity identity_{
      .resource = {.group = "batch.paddlepaddle.org",
                   .version = "v1",
                   .plural = "paddlejobs",
                   .kind = "PaddleJob",
                   .scope = api::Scope::Namespaced},
      .singular = "paddlejob",
      .short_names = {"pdj"},
      .categories = {"training", "all"},
      .controller_name = "paddlejob-controller",
      .framework = "paddle",
      .foreign_lease = "b2a304f2.paddlepaddle.org",
      .foreign_finalizer = "finalizers.paddlepaddle.org",
      .children = {api::services(), api::config_maps()},
      .columns = {{"Status", ".status.phase", "string"}, {"Mode", ".status.mode", "string"}}};
  const FieldTable job_table_;
  const FieldTable pod_table_;
};

}  // namespace

std::unique_ptr<const plan::Dialect> make_paddlejob() {
  return std::make_unique<PaddleJob>();
}

}  // namespace muster::dialects
