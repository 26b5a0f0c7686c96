// ChainerJob, kubeflow.org/v1alpha1: a master that trains alone, or starts ranks in the sets of
// workers beside it. Its status is that of the Job which the master was once.
#include <algorithm>

#include <fmt/format.h>

#include "dialects/batch/status.h"
#include "dialects/chainer/fields.h"
#include "dialects/chainer/job.h"
#include "dialects/chainer/rules.h"
#include "dialects/check/checked_dialect.h"
#include "dialects/kinds.h"
#include "dialects/mpi/pods.h"
#include "dialects/template/labels.h"

namespace muster::dialects {
namespace {

using namespace chainer;
using plan::RankSet;

constexpr std::string_view kNameLabel = "chainerjob.kubeflow.org/name";
constexpr std::string_view kRoleLabel = "chainerjob.kubeflow.org/role";
constexpr std::string_view kSetLabel = "chainerjob.kubeflow.org/workersetname";
constexpr std::string_view kWorkerSetRole = "workerset";

constexpr Mount kGenerated{.volume = "chainer-operator-volume-generated",
                           .path = "/kubeflow/chainer-operator/generated"};
constexpr Mount kAssets{.volume = "chainer-operator-volume-assets",
                        .path = "/kubeflow/chainer-operator/assets"};
constexpr std::string_view kHostFile = "/kubeflow/chainer-operator/generated/hostfile";
constexpr std::string_view kWorkerLines = "/kubeflow/chainer-operator/assets/hostfile";
constexpr std::string_view kRemoteShell = "/kubeflow/chainer-operator/assets/kubexeb.sh";
constexpr std::string_view kRemoteShellVariable = "OMPI_MCA_plm_rsh_agent";
constexpr int kAssetsMode = 0555;

constexpr std::size_t kLongestMaster = 57;  // with six characters more the name fits a label
constexpr std::int64_t kBackoffLimit = 6;   // as of any Job

std::string assets_of(const Job& job) {
  return job.ref.name + "-assets";
}

json::Object job_label(const Job& job) {
  return {{std::string(kNameLabel), job.ref.name}};
}

// The lines of all workers, set by set; the master, whose name is known last, adds its own.
plan::Object make_assets(const Job& job, const mpi::Setup& setup) {
  std::string lines;
  for (const WorkerSet& set : job.sets) {
    for (int i = 0; i < set.replicas; ++i) {
      const std::string pod = fmt::format("{}-{}", job.stem(set), i);
      lines += mpi::host_line(setup, pod, slots_of(*set.spec)) + "\n";
    }
  }
  plan::Object out{.id = {.resource = api::config_maps(), .name = assets_of(job)},
                   .on_change = plan::OnChange::Replace,
                   .until = plan::Until::End};
  out.body =
      json::Object{{"apiVersion", "v1"},
                   {"kind", "ConfigMap"},
                   {"metadata", json::Object{{"labels", job_label(job)}}},
                   {"data", json::Object{{"hostfile", std::move(lines)},
                                         {"kubexeb.sh", fmt::format("#!/bin/sh\nexec {} \"$@\"\n",
                                                                    mpi::remote_shell(setup))}}}};
  return out;
}

// The agent knows by it for whom to wait: who calls ssh calls it by its own name.
std::string remote_shell_of(const mpi::Setup& setup) {
  return setup.sshd ? mpi::remote_shell(setup) : std::string(kRemoteShell);
}

// Files and variables that master and workers have alike, in every container.
void add_surroundings(const Job& job, const mpi::Setup& setup, PodEditor& pod) {
  pod.add_volume(kGenerated.volume, "emptyDir", json::Object{});
  pod.add_volume(kAssets.volume, "configMap",
                 json::Object{{"name", assets_of(job)}, {"defaultMode", kAssetsMode}});
  pod.mount_everywhere(kGenerated);
  pod.mount_everywhere(kAssets);
  mpi::add_agent(setup, pod);
  pod.every_container([&](EnvEditor& env) {
    env.set(kRemoteShellVariable, remote_shell_of(setup));
    env.set("OMPI_MCA_orte_keep_fqdn_hostnames", "t");
    env.set("OMPI_MCA_orte_default_hostfile", std::string(kHostFile));
    env.set("OMPI_MCA_btl_tcp_if_exclude", "lo,docker0");
  });
}

// Writes the host file, and ends when every worker answers.
json::Value host_file_writer(const Job& job, const mpi::Setup& setup) {
  const std::string own_line = fmt::format("$(POD_NAME) slots={}", slots_of(job.master()));
  json::Value out = json::Object{
      {"name", "chainer-operator-hostfile-generator"},
      {"image", setup.agent_image},
      {"args",
       json::Array{"hosts", "--from", kWorkerLines, "--to", kHostFile, "--append", own_line}},
      {"env", json::Array{json::Object{
                  {"name", "POD_NAME"},
                  {"valueFrom",
                   json::Object{{"fieldRef", json::Object{{"apiVersion", "v1"},
                                                          {"fieldPath", "metadata.name"}}}}}}}}};
  if (setup.sshd) {
    out["env"].array().push_back(
        json::Object{{"name", kRemoteShellVariable}, {"value", remote_shell_of(setup)}});
  }
  add_mount(out, kGenerated);
  add_mount(out, kAssets);
  mpi::give_key(setup, out);
  return out;
}

void set_restart_policy(PodEditor& pod, std::string_view otherwise) {
  if (pod.spec()["restartPolicy"].as_string().empty()) pod.spec()["restartPolicy"] = otherwise;
}

// A Job with one completion: whatever failed stays, and the next try has another name.
plan::Role make_master(const Job& job, const mpi::Setup& setup,
                       std::vector<plan::Warning>& warnings) {
  const json::Value& limit = job.master()["backoffLimit"];
  plan::Role out{.name = std::string(kMaster),
                 .replicas = 1,
                 .pod_name = {.stem = (job.ref.name + "-master").substr(0, kLongestMaster),
                              .index = false,
                              .salt = job.ref.uid.empty() ? job.ref.name : job.ref.uid},
                 .main_container = std::string(kContainer),
                 .retry = {.on = plan::Retry::On::AnyFailure,
                           .keep_failed = true,
                           .pause = plan::Retry::Pause::Role,
                           .limit = limit.as_int(kBackoffLimit)},
                 .completion = plan::Completion::ForGood,
                 .max_active = 1,
                 .remarks = job.is_distributed()};
  PodEditor pod(job.master()["template"]);
  set_labels({{std::string(kNameLabel), {job.ref.name}},
              {std::string(kRoleLabel), {std::string(kMaster)}}},
             kMaster, pod, warnings);
  pod.pass_environment(*job.object);
  set_restart_policy(pod, "Never");
  if (job.is_distributed()) {
    add_surroundings(job, setup, pod);
    const std::size_t main = *find_container(job.master());
    mpi::make_launcher(setup, main, pod);
    mpi::advise_mpirun(setup, main, pod);
    pod.add_last_init_container(host_file_writer(job, setup));
  }
  out.values = pod.take_values();
  out.pod = pod.take_pod();
  return out;
}

// One that exits is started again, one that is lost is made again, until the master has ended.
plan::Role make_workers(const Job& job, const WorkerSet& set, const mpi::Setup& setup,
                        std::vector<plan::Warning>& warnings) {
  plan::Role out{.name = fmt::format("{}-{}", kWorkerSetRole, set.name),
                 .replicas = set.replicas,
                 .pod_name = {.stem = job.stem(set)},
                 .main_container = std::string(kContainer),
                 .retry = {.on = plan::Retry::On::AnyFailure},
                 .on_success = plan::CleanUp::All,
                 .on_failure = plan::CleanUp::All,
                 .on_limit = plan::CleanUp::All};
  const std::size_t main = *find_container(*set.spec);
  PodEditor pod((*set.spec)["template"]);
  set_labels({{std::string(kNameLabel), {job.ref.name}},
              {std::string(kRoleLabel), {std::string(kWorkerSetRole)}},
              {std::string(kSetLabel), {set.name}}},
             set.name, pod, warnings);
  pod.pass_environment(*job.object);
  set_restart_policy(pod, "Always");
  add_surroundings(job, setup, pod);
  mpi::make_reachable(setup, {out.pod_name.stem + "-", plan::Ordinal{}}, main, pod);
  mpi::wrap_command(setup, main, set.path.text(), pod, warnings);
  out.values = pod.take_values();
  out.pod = pod.take_pod();
  return out;
}

class ChainerJob final : public CheckedDialect {
 public:
  explicit ChainerJob(const Settings& settings) : agent_image_(settings.agent_image) {}

  [[nodiscard]] const plan::Identity& identity() const override { return identity_; }
  [[nodiscard]] json::Value schema() const override { return chainer::schema(); }
  [[nodiscard]] bool manages(const json::Value& /*job*/) const override { return true; }

  [[nodiscard]] Findings examine(const json::Value& job) const override {
    const json::Value named = with_container_names(job);
    Findings findings;
    job_table_.check(named, Path(), findings);
    check_job(decode(identity_.resource, named), master_table_, worker_table_, findings);
    return findings;
  }

  [[nodiscard]] json::Value status(const plan::Plan& plan, const json::Value& stored,
                                   const plan::Verdict& verdict, Time now) const override {
    return batch::make_status(plan, {.role = kMaster, .in_brief = true}, stored, verdict, now);
  }
  [[nodiscard]] plan::StoredPhase phase_of(const json::Value& status) const override {
    return batch::phase_of(status);
  }
  [[nodiscard]] std::optional<plan::EventText> event_for(const plan::JobRef& /*job*/,
                                                         const plan::Note& note) const override {
    auto event = batch::event_for(note);
    if (note.kind == plan::Note::Kind::Failed && note.cause &&
        note.cause->kind == plan::CauseKind::ForeignObject) {
      event->reason = "ErrResourceExists";
    }
    return event;
  }

 protected:
  [[nodiscard]] plan::Plan make_plan(const json::Value& written) const override {
    const json::Value named = with_container_names(written);
    const Job job = decode(identity_.resource, named);
    mpi::Setup setup{.job = job.ref, .service = job.service(), .agent_image = agent_image_};
    if (mpi::asks_for_sshd(named)) setup.sshd.emplace();
    plan::Plan out;
    out.job = job.ref;
    out.roles.push_back(make_master(job, setup, out.warnings));
    for (const WorkerSet& set : job.sets) {
      out.roles.push_back(make_workers(job, set, setup, out.warnings));
    }
    if (job.is_distributed()) {
      json::Object workers = job_label(job);
      workers.set(kRoleLabel, kWorkerSetRole);
      out.objects = {mpi::make_key(setup),
                     mpi::make_service(setup, std::move(workers), job_label(job)),
                     make_assets(job, setup)};
      for (plan::Role& role : out.roles) role.after = {out.objects.front().id};
    }
    set_end_rules(job, out);
    return out;
  }

 private:
  // The master alone decides; what becomes of workers shows in what it makes of them.
  static void set_end_rules(const Job& job, plan::Plan& out) {
    const std::string master(kMaster);
    out.success = {plan::all_of(master, RankSet::Outcome::Succeeded)};
    out.tie = plan::Tie::LimitsWin;
    out.running = plan::any_of(master, RankSet::Outcome::Running);
    const json::Value& deadline = job.master()["activeDeadlineSeconds"];
    if (deadline.is_int()) out.limits.deadline_seconds = deadline.as_int();
    out.backoff_counts = plan::BackoffCounts::FailedPods;
  }

  const plan::Identity identity_{.resource = {.group = "kubeflow.org",
                                              .version = "v1alpha1",
                                              .plural = "chainerjobs",
                                              .kind = "ChainerJob",
                                              .scope = api::Scope::Namespaced},
                                 .singular = "chainerjob",
                                 .short_names = {"chj", "chjs", "chjob", "chjobs"},
                                 .categories = {"all"},
                                 .controller_name = "chainer-job-controller",
                                 .framework = "chainer",
                                 .children = {api::services(), api::config_maps()},
                                 .makes_secrets = true};
  const std::string agent_image_;
  const FieldTable job_table_ = job_fields();
  const FieldTable master_table_ = master_pod_fields();
  const FieldTable worker_table_ = worker_pod_fields();
};

}  // namespace

std::unique_ptr<const plan::Dialect> make_chainerjob(const Settings& settings) {
  return std::make_unique<ChainerJob>(settings);
}

}  // namespace muster::dialects
