#include <algorithm>
#include <array>
#include <string>

#include "node/pod/admission/rules.h"
#include "node/pod/container/capability_names.h"
#include "node/pod/container/security.h"

// Users and rights, of the pod and of its containers.
namespace muster::node::admission {

namespace {

constexpr std::int64_t kLargestId = 2'147'483'647;

bool is_no_id(const json::Value& value, const Site&) {
  return !value.is_int() || value.as_int() < 0 || value.as_int() > kLargestId;
}

bool holds_no_id(const json::Value& value, const Site& site) {
  return std::ranges::any_of(value.as_array(),
                             [&site](const auto& one) { return is_no_id(one, site); });
}

bool is_no_boolean(const json::Value& value, const Site&) {
  return !value.is_bool();
}

bool is_local_profile(const json::Value& value, const Site&) {
  return value.as_string() != "RuntimeDefault" && value.as_string() != "Unconfined";
}

bool is_confined(const json::Value& value, const Site&) {
  return value.as_string() != "Unconfined";
}

// Net and IPC settings of the machine itself are nobody's.
bool is_unsafe_sysctl(const json::Value& value, const Site& site) {
  const auto name = sysctl_name(value.as_string());
  const auto& spec = site.pod["spec"];
  const bool of_machine =
      name.starts_with("net.") ? spec["hostNetwork"].as_bool() : spec["hostIPC"].as_bool();
  return !is_safe_sysctl(name) || of_machine;
}

bool names_no_capability(const json::Value& value, const Site&) {
  return std::ranges::any_of(value.as_array(), [](const json::Value& one) {
    return !is_all_capabilities(one.as_string()) && !capability_bit(one.as_string());
  });
}

bool is_unmasked(const json::Value& value, const Site&) {
  return value.as_string() == "Unmasked";
}

// What the API server refuses too: who has all rights can always get more.
bool contradicts_rights(const json::Value& value, const Site& site) {
  if (!value.is_bool()) return true;
  const auto& context = site.container["securityContext"];
  const auto& added = context["capabilities"]["add"].as_array();
  const bool admin = std::ranges::any_of(added, [](const json::Value& one) {
    return is_all_capabilities(one.as_string()) || capability_bit(one.as_string()) == kSysAdmin;
  });
  return !value.as_bool() && (context["privileged"].as_bool() || admin);
}

constexpr std::string_view kId = "a user or group is a number from 0 to 2147483647";
constexpr std::string_view kBoolean = "true and false are written without quotes";
constexpr std::string_view kNoSelinux = "SELinux is not set up for pods here; leave it out";
constexpr std::string_view kNoWindows = "this node runs linux; leave it out";
constexpr std::string_view kProfiles = "profiles of the node are not loaded; use RuntimeDefault";
constexpr std::string_view kNoAppArmor =
    "AppArmor is not set up for pods here; use type Unconfined, or leave it out";

constexpr auto kOfPod = std::to_array<FieldRule>({
    {.path = "securityContext.{runAsUser,runAsGroup}",
     .note = "Without them: the user that runs the node, as images have none here.",
     .refuses = is_no_id,
     .remedy = kId},
    {.path = "securityContext.runAsNonRoot",
     .note = "A container of user 0, or without runAsUser, is not started: "
             "CreateContainerConfigError.",
     .refuses = is_no_boolean,
     .remedy = kBoolean},
    {.path = "securityContext.supplementalGroups", .refuses = holds_no_id, .remedy = kId},
    {.path = "securityContext.supplementalGroupsPolicy",
     .fate = Fate::WithoutMeaning,
     .note = "Groups are those of the manifest, no others: images have no users here that could "
             "bring more."},
    {.path = "securityContext.fsGroup",
     .note = "Of emptyDir, configMap, secret, downwardAPI and projected volumes. hostPath and "
             "claims keep their owner, and memory volumes with a sizeLimit are open to all.",
     .refuses = is_no_id,
     .remedy = kId},
    {.path = "securityContext.fsGroupChangePolicy",
     .note = "Both are the same: the volumes are made for the pod."},
    {.path = "securityContext.seccompProfile.type",
     .note = "Without it: Unconfined.",
     .refuses = is_local_profile,
     .remedy = kProfiles},
    {.path = "securityContext.seccompProfile.localhostProfile",
     .fate = Fate::Refused,
     .note = kProfiles},
    {.path = "securityContext.sysctls[].name",
     .note = "Those that kubelets call safe.",
     .refuses = is_unsafe_sysctl,
     .remedy = "it is not one of the settings that are safe, of namespaces that are the pod's own",
     .reason = "SysctlForbidden"},
    {.path = "securityContext.sysctls[].value"},
    {.path = "securityContext.appArmorProfile.type",
     .note = "Unconfined.",
     .refuses = is_confined,
     .remedy = kNoAppArmor,
     .reason = "AppArmor"},
    {.path = "securityContext.appArmorProfile.localhostProfile",
     .fate = Fate::Refused,
     .note = kNoAppArmor,
     .reason = "AppArmor"},
    {.path = "securityContext.seLinuxOptions.**", .fate = Fate::Refused, .note = kNoSelinux},
    {.path = "securityContext.seLinuxChangePolicy",
     .fate = Fate::WithoutMeaning,
     .note = "Nothing is labelled."},
    {.path = "securityContext.windowsOptions.**", .fate = Fate::Refused, .note = kNoWindows},
});

constexpr auto kOfContainer = std::to_array<FieldRule>({
    {.path = "containers[].securityContext.{runAsUser,runAsGroup}",
     .note = "Before those of the pod.",
     .refuses = is_no_id,
     .remedy = kId},
    {.path = "containers[].securityContext.runAsNonRoot",
     .note = "Before that of the pod.",
     .refuses = is_no_boolean,
     .remedy = kBoolean},
    {.path = "containers[].securityContext.privileged",
     .note = "All rights and devices, nothing masked: as root on the machine.",
     .refuses = is_no_boolean,
     .remedy = kBoolean},
    {.path = "containers[].securityContext.readOnlyRootFilesystem",
     .refuses = is_no_boolean,
     .remedy = kBoolean},
    {.path = "containers[].securityContext.allowPrivilegeEscalation",
     .note = "False: no_new_privs.",
     .refuses = contradicts_rights,
     .remedy = "it is false or true, and never false beside privileged or SYS_ADMIN"},
    {.path = "containers[].securityContext.capabilities.{add,drop}",
     .note = "With or without CAP_ before the name; ALL.",
     .refuses = names_no_capability,
     .remedy = "Linux has no such capability; NET_ADMIN is one"},
    {.path = "containers[].securityContext.seccompProfile.type",
     .note = "Before that of the pod.",
     .refuses = is_local_profile,
     .remedy = kProfiles},
    {.path = "containers[].securityContext.seccompProfile.localhostProfile",
     .fate = Fate::Refused,
     .note = kProfiles},
    {.path = "containers[].securityContext.procMount",
     .note = "Default.",
     .refuses = is_unmasked,
     .remedy = "files of the kernel are only shown to privileged containers, because users in "
               "pods are those of the machine"},
    {.path = "containers[].securityContext.appArmorProfile.type",
     .note = "Unconfined.",
     .refuses = is_confined,
     .remedy = kNoAppArmor,
     .reason = "AppArmor"},
    {.path = "containers[].securityContext.appArmorProfile.localhostProfile",
     .fate = Fate::Refused,
     .note = kNoAppArmor,
     .reason = "AppArmor"},
    {.path = "containers[].securityContext.seLinuxOptions.**",
     .fate = Fate::Refused,
     .note = kNoSelinux},
    {.path = "containers[].securityContext.windowsOptions.**",
     .fate = Fate::Refused,
     .note = kNoWindows},
});

}  // namespace

std::span<const FieldRule> pod_security_rules() {
  return kOfPod;
}
std::span<const FieldRule> container_security_rules() {
  return kOfContainer;
}

}  // namespace muster::node::admission
