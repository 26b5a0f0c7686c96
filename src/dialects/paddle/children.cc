#include "dialects/paddle/children.h"

#include <algorithm>

#include <fmt/format.h>

#include "dialects/template/labels.h"
#include "dialects/template/pod_editor.h"

namespace muster::dialects::paddle {
namespace {

constexpr std::string_view kName = "paddle-res-name";
constexpr std::string_view kType = "paddle-res-type";
constexpr int kGlooPort = 18;  // of a server's ports
constexpr std::size_t kMain = 0;

// The name of the pod that the object is made for.
plan::Value own_name(const Job& job, const RoleSpec& role) {
  return {fmt::format("{}-{}-", job.ref.name, role.name), plan::Ordinal{}};
}

std::string_view role_variable(std::string_view role) {
  if (role == kServer) return "PSERVER";
  return role == kWorker ? "TRAINER" : "HETER";
}

bool by_name(const Job& job) {
  return job.intranet == Intranet::Service;
}

std::string_view restart_policy(const Job& job, const RoleSpec& role) {
  if (job.elastic) return "OnFailure";
  const std::string& written = role.pod()["spec"]["restartPolicy"].as_string();
  if (!written.empty()) return written;
  return by_name(job) && role.name == kWorker ? "OnFailure" : "Never";
}

void set_restart_policy(const Job& job, const RoleSpec& role, PodEditor& pod,
                        std::vector<plan::Warning>& warnings) {
  const std::string_view policy = restart_policy(job, role);
  const std::string written = pod.spec()["restartPolicy"].as_string();
  if (!written.empty() && written != policy) {
    warnings.push_back({.reason = "RestartPolicyReplaced",
                        .message = fmt::format("{}: restartPolicy {} of the pod template was "
                                               "replaced by {}, as of all elastic jobs",
                                               role.name, written, policy)});
  }
  pod.spec()["restartPolicy"] = policy;
}

void set_network(const Job& job, PodEditor& pod) {
  if (by_name(job)) pod.add_port(kMain, kServicePort);
  if (job.intranet != Intranet::Host) return;
  pod.spec()["hostNetwork"] = true;
  // Else names of Services would lead nowhere.
  if (pod.spec()["dnsPolicy"].as_string().empty()) {
    pod.spec()["dnsPolicy"] = "ClusterFirstWithHostNet";
  }
}

void set_variables(const Job& job, const RoleSpec& role, PodEditor& pod) {
  EnvEditor env = pod.env(kMain);
  if (by_name(job)) {
    env.set("POD_IP", own_name(job, role));
  } else {
    env.set_from_field("POD_IP", "status.podIP");
  }
  env.set("PADDLE_TRAINER_ID", plan::Ordinal{});
  env.set("TRAINING_ROLE", std::string(role_variable(role.name)));
  env.set("PADDLE_TRAINING_ROLE", std::string(role_variable(role.name)));
  if (job.elastic) {
    env.set("PADDLE_ELASTIC_JOB_ID", fmt::format("{}-{}", job.ref.ns, job.ref.name));
    env.set("PADDLE_ELASTIC_NP", fmt::to_string(job.replicas(kWorker)));
    env.set("PADDLE_ELASTIC_TIMEOUT", "60");
    return;
  }
  // A pod's address is known only when it starts: the node puts it in.
  env.set("PADDLE_CURRENT_ENDPOINT", fmt::format("$(POD_IP):{}", job.port()));
  env.set_all_from_config_map(job.ref.name);
}

// Where a rank is reached: its name, or its address once it has one.
plan::Part host(const Job& job, std::string_view role, int index, bool before_port) {
  if (by_name(job)) return job.pod_name(role, index);
  return plan::PodIp{.role = std::string(role), .index = index, .brackets = before_port};
}

plan::Value hosts(const Job& job, std::string_view role) {
  plan::Value out;
  for (int i = 0; i < job.replicas(role); ++i) {
    if (i > 0) out.emplace_back(",");
    out.push_back(host(job, role, i, false));
  }
  return out;
}

plan::Value endpoints(const Job& job, std::string_view role) {
  plan::Value out;
  for (int i = 0; i < job.replicas(role); ++i) {
    if (i > 0) out.emplace_back(",");
    out.push_back(host(job, role, i, true));
    out.emplace_back(fmt::format(":{}", job.port()));
  }
  return out;
}

// Data of a ConfigMap: what is known now goes into the body, the rest has its place.
void put(plan::Object& config, std::string_view key, plan::Value value) {
  const bool known = is_plain(value);
  config.body["data"][key] = known ? plain_text(value) : std::string();
  if (known) return;
  config.values.push_back({.path = {"data", std::string(key)}, .value = std::move(value)});
}

// Servers and heter ranks do not end by themselves: when the workers are done they are stopped,
// whatever the policy says.
void set_clean_up(const Job& job, plan::Role& role) {
  const std::string& policy = job.spec()["cleanPodPolicy"].as_string();
  const bool completed = policy.empty() || policy == "Always" || policy == "OnCompletion";
  const bool failed = policy == "Always" || policy == "OnFailure";
  const auto kept = role.name == kWorker ? plan::CleanUp::None : plan::CleanUp::Running;
  role.on_success = completed ? plan::CleanUp::All : kept;
  role.on_failure = failed ? plan::CleanUp::All : plan::CleanUp::None;
  role.on_limit = role.on_failure;
}

}  // namespace

plan::Role make_role(const Job& job, const RoleSpec& role, std::vector<plan::Warning>& warnings) {
  PodEditor pod(role.pod());
  set_labels({{std::string(kName), own_name(job, role)}, {std::string(kType), {role.name}}},
             role.name, pod, warnings);
  pod.set_annotation("paddle-resource", role.name);
  pod.pass_environment(*job.object);
  pod.set_in_spec("hostname", own_name(job, role));
  pod.set_in_spec("subdomain", own_name(job, role));
  set_restart_policy(job, role, pod, warnings);
  set_network(job, pod);
  set_variables(job, role, pod);
  plan::Role out{.name = role.name,
                 .replicas = role.replicas,
                 .pod_name = {.stem = fmt::format("{}-{}", job.ref.name, role.name)}};
  out.values = pod.take_values();
  out.pod = pod.take_pod();
  out.main_container = out.pod["spec"]["containers"][kMain]["name"].as_string();
  // A new pod has a new address; only elastic peers would learn of it.
  out.retry.on = job.elastic ? plan::Retry::On::Disruption : plan::Retry::On::Never;
  set_clean_up(job, out);
  return out;
}

plan::Object make_service(const Job& job, const RoleSpec& role) {
  json::Array ports;
  for (int i = 0; i < kPorts; ++i) {
    ports.emplace_back(json::Object{{"name", fmt::format("p-{}", i)}, {"port", kServicePort + i}});
  }
  plan::Object out{.id = {.resource = api::services()}, .each_rank_of = role.name};
  out.body =
      json::Object{{"apiVersion", "v1"},
                   {"kind", "Service"},
                   {"spec", json::Object{{"clusterIP", "None"},
                                         {"publishNotReadyAddresses", true},
                                         {"selector", json::Object{{std::string(kName), ""}}},
                                         {"ports", std::move(ports)}}}};
  out.values = {{.path = {"spec", "selector", std::string(kName)}, .value = own_name(job, role)}};
  return out;
}

plan::Object make_config(const Job& job) {
  plan::Object out{.id = {.resource = api::config_maps(), .name = job.ref.name},
                   .on_change = plan::OnChange::Replace,
                   .until = plan::Until::JobGone};
  out.body = json::Object{{"apiVersion", "v1"}, {"kind", "ConfigMap"}};
  out.body["metadata"]["labels"][kName] = job.ref.name;
  put(out, "TRAINER_PORTS_NUM", {fmt::to_string(kPorts)});
  put(out, "PADDLE_PORT", {fmt::to_string(job.port())});
  if (job.replicas(kServer) > 0) {
    put(out, "PADDLE_PSERVERS_IP_PORT_LIST", endpoints(job, kServer));
  }
  if (const int workers = job.replicas(kWorker); workers > 0) {
    put(out, "PADDLE_TRAINER_ENDPOINTS", endpoints(job, kWorker));
    put(out, "PADDLE_TRAINERS", hosts(job, kWorker));
    put(out, "PADDLE_TRAINERS_NUM", {fmt::to_string(workers)});
  }
  if (job.replicas(kHeter) > 0) put(out, "PADDLE_HETER_ENDPOINTS", endpoints(job, kHeter));
  if (job.gloo > 0) {
    put(out, "PADDLE_WITH_GLOO", {fmt::to_string(job.gloo)});
    put(out, "PADDLE_GLOO_RENDEZVOUS", {"3"});
    put(out, "PADDLE_GLOO_HTTP_ENDPOINT",
        {host(job, kServer, 0, true), fmt::format(":{}", job.port() + kGlooPort)});
  }
  return out;
}

}  // namespace muster::dialects::paddle
