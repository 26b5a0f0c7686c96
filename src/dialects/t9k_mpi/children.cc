#include "dialects/t9k_mpi/children.h"

#include <utility>

#include <fmt/format.h>

#include "dialects/mpi/pods.h"
#include "dialects/t9k/labels.h"
#include "dialects/t9k_mpi/launcher.h"
#include "dialects/template/labels.h"
#include "dialects/template/pod_editor.h"

namespace muster::dialects::t9k_mpi {
namespace {

constexpr std::string_view kHostFileKey = "hostfile";

// In what way a pod is made: for the work itself, to be debugged, or after a pause.
struct Variant {
  bool debug = false;
  t9k::RoleMode mode;
};

plan::Value own_name(const Job& job, std::string_view role) {
  if (role == kLauncher) return {job.launcher_name()};
  return {fmt::format("{}-worker-", job.ref.name), plan::Ordinal{}};
}

Labels labels_of(const Job& job, std::string_view role) {
  const plan::Value index = role == kLauncher ? plan::Value{"0"} : plan::Value{plan::Ordinal{}};
  Labels out = t9k::pod_labels(job.ref, role, own_name(job, role), index);
  out.emplace_back("app", plan::Value{job.ref.name});
  out.emplace_back("mpi-job", plan::Value{job.ref.name});
  if (!job.scheduler) return out;
  for (auto& label : t9k::scheduler_labels(job.ref, *job.scheduler, role)) {
    out.push_back(std::move(label));
  }
  return out;
}

// What both roles have: labels, who places them, and the policy that is ours to choose.
PodEditor edit_pod(const Job& job, std::string_view role, json::Value pod_template,
                   std::string_view restart_policy, const Variant& variant,
                   std::vector<plan::Warning>& warnings) {
  PodEditor pod(std::move(pod_template));
  set_labels(labels_of(job, role), role, pod, warnings);
  pod.pass_environment(*job.object);
  if (job.scheduler) t9k::set_scheduler_name(pod);
  const std::string written = pod.pod()["spec"]["restartPolicy"].as_string();
  if (!written.empty() && written != restart_policy && role == kWorker) {
    warnings.push_back({.reason = "RestartPolicyReplaced",
                        .message = fmt::format("{}: restartPolicy {} of the pod template was "
                                               "replaced by {}",
                                               role, written, restart_policy)});
  }
  pod.spec()["restartPolicy"] = restart_policy;
  if (variant.mode.skip_init_containers) pod.spec().object().erase("initContainers");
  return pod;
}

std::string_view pod_restart_policy(const Restart& restart) {
  return restart.policy == Restart::Policy::Always && !restart.limit ? "Always" : "Never";
}

plan::Retry retry_of(const Restart& restart) {
  using On = plan::Retry::On;
  if (restart.policy == Restart::Policy::Never) return {.on = On::Never};
  if (restart.limit) return {.on = On::AnyFailure, .limit = restart.limit};
  return {.on = On::Disruption};
}

bool is_sshd(const std::vector<std::string>& command) {
  if (command.empty()) return false;
  const std::string& program = command.front();
  return program.substr(program.rfind('/') + 1) == "sshd";
}

// Whoever asks a worker to run sshd asks it to wait for the launcher, however ranks are started.
std::vector<std::string> worker_command(const mpi::Setup& setup, const t9k::RoleMode& mode) {
  if (mode.command.empty() || is_sshd(mode.command)) return mpi::idle_command(setup);
  std::vector<std::string> words;
  if (!setup.sshd) words = {std::string(mpi::kAgent), "run", "--"};
  words.insert(words.end(), mode.command.begin(), mode.command.end());
  words.insert(words.end(), mode.args.begin(), mode.args.end());
  return words;
}

PodEditor worker_pod(const Job& job, const mpi::Setup& setup, const Variant& variant,
                     std::vector<plan::Warning>& warnings) {
  const std::size_t main = *job.main_container();
  PodEditor pod = edit_pod(job, kWorker, job.worker.pod(), pod_restart_policy(job.worker_restart),
                           variant, warnings);
  mpi::add_agent(setup, pod);
  mpi::make_reachable(setup, own_name(job, kWorker), main, pod);
  pod.set_command(main, worker_command(setup, variant.mode));
  return pod;
}

std::vector<std::string> launcher_command(const Job& job, const Variant& variant) {
  const t9k::RoleMode& mode = variant.mode;
  if (variant.debug) {
    return mode.command.empty() ? std::vector<std::string>{"sleep", "inf"} : mode.command;
  }
  std::vector<std::string> words = mode.command.empty() ? mpirun_command(job) : mode.command;
  words.insert(words.end(), mode.args.begin(), mode.args.end());
  return mpi::launch_command(kHostFile, words);
}

PodEditor launcher_pod(const Job& job, const mpi::Setup& setup, const Variant& variant,
                       std::vector<plan::Warning>& warnings) {
  PodEditor pod = edit_pod(job, kLauncher, launcher_template(job), "Never", variant, warnings);
  const std::size_t main = launcher_container(pod.pod());
  mpi::add_agent(setup, pod);
  mpi::make_launcher(setup, main, pod);
  pod.add_volume(kHostFileVolume, "configMap",
                 json::Object{{"name", fmt::format("{}-hostfile", job.ref.name)}});
  pod.mount(main, {.volume = kHostFileVolume, .path = kHostFileFolder, .read_only = true});
  pod.env(main).set("OMPI_MCA_plm_rsh_agent", mpi::remote_shell(setup));
  pod.set_command(main, launcher_command(job, variant));
  return pod;
}

// One template for the run, another for what comes after a pause where the job asks for it.
template <class Make>
void set_pods(const Job& job, const std::string& role, Make make, plan::Role& out) {
  const t9k::RunMode& mode = job.run_mode;
  PodEditor pod =
      mode.debug ? make(Variant{.debug = true, .mode = mode.debug_of(role)}) : make(Variant{});
  out.pod = pod.take_pod();
  out.values = pod.take_values();
  const t9k::RoleMode resumed = mode.resume_of(role);
  if (mode.debug || resumed == t9k::RoleMode{}) return;
  PodEditor later = make(Variant{.mode = resumed});
  out.pod_resumed = later.take_pod();
  out.values_resumed = later.take_values();
}

void set_clean_up(plan::CleanUp policy, plan::Role& role) {
  role.on_success = role.on_failure = role.on_limit = policy;
}

}  // namespace

plan::Role make_launcher(const Job& job, const mpi::Setup& setup,
                         std::vector<plan::Warning>& warnings) {
  plan::Role out{.name = std::string(kLauncher),
                 .replicas = 1,
                 .pod_name = {.stem = job.launcher_name(), .index = false},
                 .main_container = std::string(kLauncher)};
  std::vector<plan::Warning> said_of_workers;  // it is a copy of them
  const bool own = has_own_launcher(job);
  set_pods(
      job, out.name,
      [&](const Variant& variant) {
        return launcher_pod(job, setup, variant, own ? warnings : said_of_workers);
      },
      out);
  const Restart& restart = job.launcher_restart;
  // The success of the launcher is that of the job, so Always means no more than OnFailure.
  if (restart.policy == Restart::Policy::Always && !restart.limit) {
    out.retry = {.on = plan::Retry::On::AnyFailure};
  } else {
    out.retry = retry_of(restart);
  }
  out.remarks = true;
  set_clean_up(plan::CleanUp::None, out);  // for its log
  return out;
}

plan::Role make_worker(const Job& job, const mpi::Setup& setup,
                       std::vector<plan::Warning>& warnings) {
  plan::Role out{
      .name = std::string(kWorker), .replicas = job.workers, .pod_name = {.stem = job.service()}};
  std::vector<plan::Warning> twice;  // of the second template
  bool first = true;
  set_pods(
      job, out.name,
      [&](const Variant& variant) {
        return worker_pod(job, setup, variant, std::exchange(first, false) ? warnings : twice);
      },
      out);
  out.main_container =
      job.worker.pod()["spec"]["containers"][*job.main_container()]["name"].as_string();
  out.retry = retry_of(job.worker_restart);
  set_clean_up(job.cleans_up_workers ? plan::CleanUp::All : plan::CleanUp::None, out);
  return out;
}

plan::Object make_host_file(const Job& job) {
  std::string lines;
  const int slots = job.slots();
  for (int i = 0; i < job.workers; ++i) {
    lines += fmt::format("{}.{} slots={}\n", job.worker_name(i), job.service(), slots);
  }
  plan::Object out{
      .id = {.resource = api::config_maps(), .name = fmt::format("{}-hostfile", job.ref.name)},
      .on_change = plan::OnChange::Replace,
      .until = plan::Until::End};
  out.body = json::Object{{"apiVersion", "v1"},
                          {"kind", "ConfigMap"},
                          {"data", json::Object{{std::string(kHostFileKey), std::move(lines)}}}};
  return out;
}

json::Object worker_selector(const Job& job) {
  return {{"mpi-job", job.ref.name}, {"replica-type", std::string(kWorker)}};
}

}  // namespace muster::dialects::t9k_mpi
