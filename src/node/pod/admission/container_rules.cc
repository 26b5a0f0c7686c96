#include <algorithm>
#include <array>

#include "node/pod/admission/rules.h"

// Of containers, but for their rights.
namespace muster::node::admission {

namespace {

bool is_of_its_own(const json::Value& value, const Site& site) {
  return value.as_string() != site.pod["spec"]["restartPolicy"].as_string();
}

bool is_no_sidecar_of_its_own(const json::Value& value, const Site& site) {
  return value.as_string() != "Always" && is_of_its_own(value, site);
}

bool opens_port_of_machine(const json::Value& value, const Site& site) {
  return value.as_int() != 0 && !site.pod["spec"]["hostNetwork"].as_bool();
}

bool has_huge_pages(const json::Value& value, const Site&) {
  return std::ranges::any_of(value.as_object(), [](const auto& entry) {
    return std::string_view(entry.first).starts_with("hugepages-");
  });
}

bool propagates(const json::Value& value, const Site&) {
  return !value.as_string().empty() && value.as_string() != "None";
}

bool is_encrypted(const json::Value& value, const Site&) {
  return value.as_string() == "HTTPS";
}

constexpr auto kContainer = std::to_array<FieldRule>({
    {.path = "containers[].{name,command,args,workingDir}"},
    {.path = "containers[].image",
     .note = "Not pulled: images.yaml says what it means on this machine."},
    {.path = "containers[].imagePullPolicy",
     .fate = Fate::WithoutMeaning,
     .note = "Images are not pulled."},
    {.path = "containers[].env[].{name,value}"},
    {.path = "containers[].env[].valueFrom.{configMapKeyRef,secretKeyRef}.{name,key,optional}"},
    {.path = "containers[].env[].valueFrom.fieldRef.{apiVersion,fieldPath}"},
    {.path = "containers[].env[].valueFrom.resourceFieldRef.{containerName,resource,divisor}"},
    {.path = "containers[].env[].valueFrom.fileKeyRef.**",
     .fate = Fate::Refused,
     .note = "variables are not read from files of volumes; use a ConfigMap or a Secret"},
    {.path = "containers[].envFrom[].prefix"},
    {.path = "containers[].envFrom[].{configMapRef,secretRef}.{name,optional}"},
    {.path = "containers[].ports[].{name,containerPort,protocol}"},
    {.path = "containers[].ports[].hostPort",
     .note = "In the machine's network it is the containerPort.",
     .refuses = opens_port_of_machine,
     .remedy = "ports of the machine lead to pods in its network only; use hostNetwork, or a "
               "Service"},
    {.path = "containers[].ports[].hostIP",
     .fate = Fate::WithoutMeaning,
     .note = "It only says where a hostPort is offered."},
    {.path = "containers[].resources.{limits,requests}",
     .note = "cpu, memory, ephemeral-storage, nvidia.com/gpu, and what --capacity declares.",
     .refuses = has_huge_pages,
     .remedy = "huge pages are not handed out here; ask for memory"},
    {.path = "containers[].resources.claims.**",
     .fate = Fate::Refused,
     .note = "devices are not claimed here; ask for them in limits"},
    {.path = "containers[].resizePolicy[].{resourceName,restartPolicy}",
     .fate = Fate::WithoutMeaning,
     .note = "Resources of a pod that runs are not changed."},
    {.path = "containers[].restartPolicy",
     .note = "That of the pod.",
     .refuses = is_of_its_own,
     .remedy = "containers are started again as the pod's restartPolicy says"},
    {.path = "initContainers[].restartPolicy",
     .note = "Always: it runs beside the others.",
     .refuses = is_no_sidecar_of_its_own,
     .remedy = "init containers are started again as the pod's restartPolicy says; Always makes "
               "one run beside the others"},
    {.path = "containers[].restartPolicyRules.**",
     .fate = Fate::Refused,
     .note = "exit codes do not decide about restarts; the pod's restartPolicy does"},
    {.path = "containers[].{stdin,tty}",
     .fate = Fate::Refused,
     .note = "nobody can attach to a container; run a program in it with muster exec -it"},
    {.path = "containers[].stdinOnce",
     .fate = Fate::WithoutMeaning,
     .note = "There is no stdin that could be closed."},
    {.path = "containers[].{terminationMessagePath,terminationMessagePolicy}"},
    {.path = "containers[].volumeMounts[].{name,mountPath,readOnly,subPath,subPathExpr}"},
    {.path = "containers[].volumeMounts[].recursiveReadOnly",
     .note = "What is read-only is so with all that is mounted below it."},
    {.path = "containers[].volumeMounts[].mountPropagation",
     .note = "None.",
     .refuses = propagates,
     .remedy = "mounts do not pass between the machine and a container that runs; use None"},
    {.path = "containers[].volumeDevices.**",
     .fate = Fate::Refused,
     .note = "claims are directories here, not disks; use volumeMounts"},
});

constexpr auto kProbes = std::to_array<FieldRule>({
    {.path = "containers[].{livenessProbe,readinessProbe,startupProbe}.{initialDelaySeconds,"
             "periodSeconds,timeoutSeconds,successThreshold,failureThreshold,"
             "terminationGracePeriodSeconds}"},
    {.path = "containers[].{livenessProbe,readinessProbe,startupProbe}.exec.command"},
    {.path = "containers[].{livenessProbe,readinessProbe,startupProbe}.tcpSocket.{host,port}"},
    {.path = "containers[].{livenessProbe,readinessProbe,startupProbe}.httpGet.{host,port,path}",
     .note = "200 to 399 is well; redirects are not followed."},
    {.path = "containers[].{livenessProbe,readinessProbe,startupProbe}.httpGet.scheme",
     .note = "HTTP.",
     .refuses = is_encrypted,
     .remedy = "probes do not speak TLS; use exec or tcpSocket"},
    {.path = "containers[].{livenessProbe,readinessProbe,startupProbe}.httpGet.httpHeaders[].{name,"
             "value}"},
    {.path = "containers[].{livenessProbe,readinessProbe,startupProbe}.grpc.**",
     .fate = Fate::Refused,
     .note = "probes do not speak gRPC; use exec, httpGet or tcpSocket"},
    {.path = "containers[].lifecycle.{postStart,preStop}.exec.command"},
    {.path = "containers[].lifecycle.{postStart,preStop}.sleep.seconds"},
    {.path = "containers[].lifecycle.{postStart,preStop}.{httpGet,tcpSocket}.**",
     .fate = Fate::Refused,
     .note = "hooks run programs or wait; use exec or sleep"},
    {.path = "containers[].lifecycle.stopSignal",
     .fate = Fate::Refused,
     .note = "containers are asked to end with SIGTERM; use preStop"},
});

}  // namespace

std::span<const FieldRule> container_rules() {
  return kContainer;
}
std::span<const FieldRule> probe_rules() {
  return kProbes;
}

}  // namespace muster::node::admission
