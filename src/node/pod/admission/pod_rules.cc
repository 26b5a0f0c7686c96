#include <algorithm>
#include <array>

#include "node/pod/admission/rules.h"

// Of the pod as a whole, but for its rights.
namespace muster::node::admission {

namespace {

bool is_windows(const json::Value& value, const Site&) {
  return !value.as_string().empty() && value.as_string() != "linux";
}

bool is_false(const json::Value& value, const Site&) {
  return value.is_bool() && !value.as_bool();
}

// Containers that run at the same time are hidden from each other nowhere here.
bool separates_containers(const json::Value& value, const Site& site) {
  const auto& spec = site.pod["spec"];
  const auto sidecars = std::ranges::count_if(spec["initContainers"].as_array(), [](const auto& c) {
    return c["restartPolicy"].as_string() == "Always";
  });
  const auto together = spec["containers"].as_array().size() + static_cast<std::size_t>(sidecars);
  return is_false(value, site) && together > 1;
}

// The machine's name servers answer nobody who is not in its own network.
bool asks_name_servers(const json::Value& value, const Site& site) {
  const auto& policy = value.as_string();
  return policy == "None" || (policy == "Default" && !site.pod["spec"]["hostNetwork"].as_bool());
}

constexpr auto kLife = std::to_array<FieldRule>({
    {.path = "{restartPolicy,activeDeadlineSeconds,terminationGracePeriodSeconds}"},
    {.path = "readinessGates[].conditionType", .note = "The pod is Ready when these are True too."},
    {.path = "overhead", .note = "Counted by the scheduler."},
    {.path = "os.name",
     .refuses = is_windows,
     .remedy = "it runs linux; use a node of that system",
     .reason = "PodOSNotSupported"},
    {.path = "ephemeralContainers.**",
     .fate = Fate::Refused,
     .note = "containers cannot be added to a pod; use muster exec"},
    {.path = "runtimeClassName",
     .fate = Fate::Refused,
     .note = "pods are processes of this machine and nothing else runs them; leave it out"},
    {.path = "resources.**",
     .fate = Fate::Refused,
     .note = "say in each container what it needs and may use"},
    {.path = "resourceClaims.**",
     .fate = Fate::Refused,
     .note = "devices are not claimed here; ask for them in the limits of a container"},
});

constexpr auto kNetwork = std::to_array<FieldRule>({
    {.path = "{hostname,subdomain}"},
    {.path = "{hostnameOverride,setHostnameAsFQDN}", .note = "What the pod takes itself for."},
    {.path = "hostNetwork", .note = "See [volumes.md](volumes.md#hostnetwork)."},
    {.path = "enableServiceLinks"},
    {.path = "dnsPolicy",
     .note = "Names of pods and services are in /etc/hosts, whatever it says; only pods in the "
             "machine's network reach its name servers.",
     .refuses = asks_name_servers,
     .remedy = "no name server can be reached from a pod; leave it out, or use hostNetwork"},
    {.path = "dnsConfig.**",
     .fate = Fate::Refused,
     .note = "no name server can be reached from a pod; names of pods and services are in "
             "/etc/hosts"},
    {.path = "hostAliases.**",
     .fate = Fate::Refused,
     .note = "the pods of a namespace share one /etc/hosts; make a Service, or use the address"},
});

constexpr auto kMachine = std::to_array<FieldRule>({
    {.path = "hostIPC"},
    {.path = "hostPID",
     .fate = Fate::Refused,
     .note = "a pod sees its own processes only; leave it out"},
    {.path = "hostUsers",
     .note = "True, as it is by default.",
     .refuses = is_false,
     .remedy = "users in pods are those of the machine; leave it out"},
    {.path = "shareProcessNamespace",
     .note = "True, whether it is said or not: containers of a pod see each other's processes.",
     .refuses = separates_containers,
     .remedy = "containers of a pod see each other's processes; make pods of them"},
});

constexpr auto kAccount = std::to_array<FieldRule>({
    {.path = "{serviceAccountName,serviceAccount,automountServiceAccountToken}"},
    {.path = "imagePullSecrets[].name",
     .fate = Fate::WithoutMeaning,
     .note = "Images are not pulled; images.yaml says what they are."},
});

constexpr std::string_view kOneMachine =
    "Of a cluster's scheduler. The embedded cluster has one node: nobody can be elsewhere.";

constexpr auto kScheduling = std::to_array<FieldRule>({
    {.path = "{nodeName,nodeSelector}"},
    {.path = "schedulerName",
     .note = "On the embedded cluster a pod of another scheduler waits for that one."},
    {.path = "schedulingGates[].name"},
    {.path = "priority", .note = "Who comes first; nobody is stopped for it by ours."},
    {.path = "affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution."
             "nodeSelectorTerms[].{matchExpressions,matchFields}[].{key,operator,values}"},
    {.path = "affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution.**",
     .fate = Fate::WithoutMeaning,
     .note = kOneMachine},
    {.path = "affinity.{podAffinity,podAntiAffinity}.**",
     .fate = Fate::WithoutMeaning,
     .note = kOneMachine},
    {.path = "topologySpreadConstraints.**", .fate = Fate::WithoutMeaning, .note = kOneMachine},
    {.path = "tolerations[].{key,operator,value,effect,tolerationSeconds}",
     .fate = Fate::WithoutMeaning,
     .note = "Of a cluster's scheduler. The embedded cluster's node has no taints."},
    {.path = "{priorityClassName,preemptionPolicy}",
     .fate = Fate::WithoutMeaning,
     .note = "Of a cluster's scheduler. The embedded cluster has no priority classes."},
    {.path = "schedulingGroup.**",
     .fate = Fate::WithoutMeaning,
     .note = "Of a cluster's scheduler. The embedded one places the pods of a job together."},
});

}  // namespace

std::span<const FieldRule> life_rules() {
  return kLife;
}
std::span<const FieldRule> network_rules() {
  return kNetwork;
}
std::span<const FieldRule> machine_rules() {
  return kMachine;
}
std::span<const FieldRule> account_rules() {
  return kAccount;
}
std::span<const FieldRule> scheduling_rules() {
  return kScheduling;
}

std::span<const RuleGroup> all_rules() {
  static const std::array<RuleGroup, 10> groups{
      {{.title = "The pod", .rules = life_rules()},
       {.title = "Names and network", .rules = network_rules()},
       {.title = "What it shares with the machine", .rules = machine_rules()},
       {.title = "Users and rights of all containers", .rules = pod_security_rules()},
       {.title = "Account and images", .rules = account_rules()},
       {.title = "Where it runs", .rules = scheduling_rules()},
       {.title = "Containers", .rules = container_rules()},
       {.title = "Probes and hooks", .rules = probe_rules()},
       {.title = "Users and rights of one container", .rules = container_security_rules()},
       {.title = "Volumes", .rules = volume_rules()}}};
  return groups;
}

}  // namespace muster::node::admission
