#include "node/pod/container/security.h"

#include <algorithm>
#include <array>
#include <optional>

#include <fmt/format.h>

#include "api/object.h"
#include "node/pod/container/capability_names.h"
#include "node/runtime/capabilities.h"

namespace muster::node {

namespace {

// The container's own word, else the pod's.
const json::Value& said(const json::Value& pod, const json::Value& container, const char* field) {
  const auto& own = container["securityContext"][field];
  return own.is_null() ? pod["spec"]["securityContext"][field] : own;
}

std::optional<std::uint32_t> id_of(const json::Value& value) {
  if (!value.is_int()) return std::nullopt;
  return static_cast<std::uint32_t>(value.as_int());
}

bool holds_all(const json::Value& names) {
  return std::ranges::any_of(names.as_array(),
                             [](const auto& one) { return is_all_capabilities(one.as_string()); });
}

std::uint64_t mask_of(const json::Value& names) {
  std::uint64_t mask = 0;
  for (const auto& name : names.as_array()) {
    if (const auto bit = capability_bit(name.as_string())) mask |= std::uint64_t{1} << *bit;
  }
  return mask;
}

// ALL first, then the names, as container runtimes do: drop ALL and add one leaves that one.
std::optional<std::uint64_t> capabilities_of(const json::Value& context) {
  const auto& add = context["capabilities"]["add"];
  const auto& drop = context["capabilities"]["drop"];
  if (add.as_array().empty() && drop.as_array().empty()) return std::nullopt;
  auto mask = holds_all(add) ? all_capabilities() : kUsualRights;
  if (holds_all(drop)) mask = 0;
  return (mask | mask_of(add)) & ~mask_of(drop);
}

Result<void> check_not_root(const ContainerSpec& spec, const json::Value& pod,
                            const json::Value& container) {
  if (!said(pod, container, "runAsNonRoot").as_bool() || spec.uid.value_or(0) != 0) return {};
  // The kubelet's words, which people search for.
  const std::string_view why = spec.uid ? "container's runAsUser breaks non-root policy"
                                        : "container has runAsNonRoot and image will run as root";
  return fail(ErrorCode::Invalid,
              fmt::format("{} (pod: \"{}_{}({})\", container: {}); set runAsUser to a user that is "
                          "not 0",
                          why, api::name_of(pod), api::namespace_of(pod), api::uid_of(pod),
                          container["name"].as_string()));
}

void add_groups(ContainerSpec& spec, const json::Value& context) {
  for (const auto& group : context["supplementalGroups"].as_array()) {
    spec.supplementary_groups.push_back(static_cast<std::uint32_t>(group.as_int()));
  }
  if (const auto group = id_of(context["fsGroup"])) spec.supplementary_groups.push_back(*group);
}

}  // namespace

Result<void> add_security(ContainerSpec& spec, const json::Value& pod,
                          const json::Value& container) {
  spec.uid = id_of(said(pod, container, "runAsUser"));
  spec.gid = id_of(said(pod, container, "runAsGroup"));
  TRY(check_not_root(spec, pod, container));
  add_groups(spec, pod["spec"]["securityContext"]);
  const auto& own = container["securityContext"];
  spec.no_new_privileges = !own["allowPrivilegeEscalation"].as_bool(true);
  spec.capabilities = capabilities_of(own);
  spec.privileged = own["privileged"].as_bool();
  spec.read_only_root = own["readOnlyRootFilesystem"].as_bool();
  const auto& profile = said(pod, container, "seccompProfile")["type"].as_string();
  if (profile == "RuntimeDefault" && !spec.privileged)
    spec.seccomp = ContainerSpec::Seccomp::RuntimeDefault;
  return {};
}

std::vector<std::pair<std::string, std::string>> sysctls_of(const json::Value& pod) {
  std::vector<std::pair<std::string, std::string>> out;
  for (const auto& one : pod["spec"]["securityContext"]["sysctls"].as_array()) {
    out.emplace_back(sysctl_name(one["name"].as_string()), one["value"].as_string());
  }
  return out;
}

// A name with slashes before its first dot has dots that belong to a part of it.
std::string sysctl_name(std::string_view written) {
  std::string out(written);
  const auto slash = out.find('/');
  if (slash == std::string::npos || out.find('.') < slash) return out;
  for (char& c : out) {
    if (c == '/') {
      c = '.';
    } else if (c == '.') {
      c = '/';
    }
  }
  return out;
}

bool is_safe_sysctl(std::string_view name) {
  constexpr auto kSafe = std::to_array<std::string_view>(
      {"kernel.shm_rmid_forced", "net.ipv4.ip_local_port_range", "net.ipv4.ip_local_reserved_ports",
       "net.ipv4.ip_unprivileged_port_start", "net.ipv4.ping_group_range",
       "net.ipv4.tcp_fin_timeout", "net.ipv4.tcp_keepalive_intvl", "net.ipv4.tcp_keepalive_probes",
       "net.ipv4.tcp_keepalive_time", "net.ipv4.tcp_rmem", "net.ipv4.tcp_syncookies",
       "net.ipv4.tcp_wmem"});
  return std::ranges::find(kSafe, name) != kSafe.end();
}

}  // namespace muster::node
