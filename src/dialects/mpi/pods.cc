#include "dialects/mpi/pods.h"

#include <algorithm>

#include <fmt/format.h>

#include "dialects/mpi/names.h"

namespace muster::dialects::mpi {
namespace {

constexpr std::string_view kServiceVariable = "MUSTER_MPI_SERVICE";
constexpr std::string_view kForkAgentVariable = "OMPI_MCA_orte_fork_agent";
constexpr std::string_view kNoTreeVariable = "OMPI_MCA_plm_rsh_no_tree_spawn";
constexpr Mount kAgentMount{.volume = kAgentVolume, .path = kAgentFolder, .read_only = true};

// What its security context says; an image's own user is not known here.
bool is_not_root(const json::Value& pod_context, const json::Value& context) {
  const json::Value& user =
      context["runAsUser"].is_null() ? pod_context["runAsUser"] : context["runAsUser"];
  const json::Value& promised =
      context["runAsNonRoot"].is_null() ? pod_context["runAsNonRoot"] : context["runAsNonRoot"];
  return user.as_int() != 0 || promised.as_bool();
}

// The files of a Secret belong to root: where somebody else has to read them, all may.
int key_mode(const json::Value& spec) {
  constexpr int kOwnerReads = 0400;
  constexpr int kAllRead = 0444;
  const auto& pod_context = spec["securityContext"];
  const bool others =
      std::ranges::any_of(spec["containers"].as_array(), [&](const json::Value& container) {
        return is_not_root(pod_context, container["securityContext"]);
      });
  return others ? kAllRead : kOwnerReads;
}

json::Object file(std::string_view key, std::string_view path) {
  return {{"key", key}, {"path", path}};
}

// Of the ssh keys a worker gets what lets the launcher in, and the launcher what gets it in.
json::Array worker_files() {
  return {file("authorized_keys", "authorized_keys"), file("host_key", "host_key"),
          file("host_key.pub", "host_key.pub")};
}
json::Array launcher_files() {
  return {file("ssh-privatekey", kIdentityFile), file("ssh-publickey", "id_ed25519.pub"),
          file("known_hosts", "known_hosts")};
}

void add_key(const Setup& setup, json::Array ssh_files, std::size_t main, PodEditor& pod) {
  json::Object source{{"secretName", key_name(setup)},
                      {"defaultMode", key_mode(pod.pod()["spec"])}};
  if (setup.sshd) source.set("items", std::move(ssh_files));
  pod.add_volume(setup.sshd ? kSshVolume : kKeyVolume, "secret", std::move(source));
  give_key(setup, pod.container(main));
}

}  // namespace

void add_agent(const Setup& setup, PodEditor& pod) {
  pod.mount_everywhere(kAgentMount);
  pod.add_volume(kAgentVolume, "emptyDir", json::Object{});
  json::Value installer = json::Object{{"name", kAgentVolume},
                                       {"image", setup.agent_image},
                                       {"args", json::Array{"install", std::string(kAgentShare)}}};
  add_mount(installer, {.volume = kAgentVolume, .path = kAgentShare});
  pod.add_first_init_container(std::move(installer));
}

void mount_agent(json::Value& container) {
  add_mount(container, kAgentMount);
}

void give_key(const Setup& setup, json::Value& container) {
  if (setup.sshd) {
    add_mount(container, {.volume = kSshVolume, .path = setup.sshd->auth, .read_only = true});
  } else {
    add_mount(container, {.volume = kKeyVolume, .path = kKeyFolder, .read_only = true});
  }
  container["env"].array().push_back(
      json::Object{{"name", kServiceVariable}, {"value", setup.service}});
}

void make_reachable(const Setup& setup, const plan::Value& pod_name, std::size_t main,
                    PodEditor& pod) {
  pod.set_in_spec("hostname", pod_name);
  pod.set_in_spec("subdomain", {setup.service});
  if (setup.sshd) {
    pod.add_port(main, kSshPort);
  } else {
    pod.add_port(main, kAgentPortName, kAgentPort);
  }
  add_key(setup, worker_files(), main, pod);
}

void make_launcher(const Setup& setup, std::size_t main, PodEditor& pod) {
  add_key(setup, launcher_files(), main, pod);
}

void advise_mpirun(const Setup& setup, std::size_t main, PodEditor& pod) {
  EnvEditor env = pod.env(main);
  const std::string_view name = setup.sshd ? kNoTreeVariable : kForkAgentVariable;
  if (env.has(name)) return;
  env.set(name, setup.sshd ? "1" : fmt::format("{} rank", kAgent));
}

std::vector<std::string> idle_command(const Setup& setup) {
  if (!setup.sshd) return {std::string(kAgent), "run"};
  return {std::string(kAgent), "sshd", "--sshd", setup.sshd->path, "--auth", setup.sshd->auth};
}

void wrap_command(const Setup& setup, std::size_t main, std::string_view where, PodEditor& pod,
                  std::vector<plan::Warning>& warnings) {
  const json::Value& container = pod.pod()["spec"]["containers"][main];
  if (!setup.sshd && !container["command"].as_array().empty()) {
    pod.prefix_command(main, {std::string(kAgent), "run", "--"});
    return;
  }
  const std::string_view left_out = !container["command"].as_array().empty() ? "command"
                                    : !container["args"].as_array().empty()  ? "args"
                                                                             : "";
  if (!left_out.empty()) {
    warnings.push_back(
        {.reason = "NotObeyed",
         .message = fmt::format("{}: {} of the container {} is not run: {}", where, left_out,
                                container["name"].as_string(),
                                setup.sshd ? "sshd takes its place"
                                           : "it has no command to go with, and the agent runs in "
                                             "place of the image's own")});
  }
  pod.set_command(main, idle_command(setup));
}

std::vector<std::string> launch_command(std::string_view host_file,
                                        const std::vector<std::string>& mpirun) {
  std::vector<std::string> words{std::string(kAgent), "launch", "--hostfile",
                                 std::string(host_file), "--"};
  words.insert(words.end(), mpirun.begin(), mpirun.end());
  return words;
}

}  // namespace muster::dialects::mpi
