#include "node/pod/container/capability_names.h"

#include <algorithm>
#include <array>

#include "base/strings.h"

namespace muster::node {

namespace {

// In the order of their bits.
constexpr auto kNames = std::to_array<std::string_view>({
    "CHOWN",
    "DAC_OVERRIDE",
    "DAC_READ_SEARCH",
    "FOWNER",
    "FSETID",
    "KILL",
    "SETGID",
    "SETUID",
    "SETPCAP",
    "LINUX_IMMUTABLE",
    "NET_BIND_SERVICE",
    "NET_BROADCAST",
    "NET_ADMIN",
    "NET_RAW",
    "IPC_LOCK",
    "IPC_OWNER",
    "SYS_MODULE",
    "SYS_RAWIO",
    "SYS_CHROOT",
    "SYS_PTRACE",
    "SYS_PACCT",
    "SYS_ADMIN",
    "SYS_BOOT",
    "SYS_NICE",
    "SYS_RESOURCE",
    "SYS_TIME",
    "SYS_TTY_CONFIG",
    "MKNOD",
    "LEASE",
    "AUDIT_WRITE",
    "AUDIT_CONTROL",
    "SETFCAP",
    "MAC_OVERRIDE",
    "MAC_ADMIN",
    "SYSLOG",
    "WAKE_ALARM",
    "BLOCK_SUSPEND",
    "AUDIT_READ",
    "PERFMON",
    "BPF",
    "CHECKPOINT_RESTORE",
});
static_assert(kNames[kSysAdmin] == "SYS_ADMIN");

std::string_view without_prefix(std::string_view name) {
  constexpr std::string_view kPrefix = "CAP_";
  const bool has = equal_ignoring_case(name.substr(0, kPrefix.size()), kPrefix);
  return has ? name.substr(kPrefix.size()) : name;
}

}  // namespace

std::optional<unsigned> capability_bit(std::string_view name) {
  const auto wanted = without_prefix(name);
  const auto found = std::ranges::find_if(
      kNames, [wanted](std::string_view one) { return equal_ignoring_case(one, wanted); });
  if (found == kNames.end()) return std::nullopt;
  return static_cast<unsigned>(found - kNames.begin());
}

bool is_all_capabilities(std::string_view name) {
  return equal_ignoring_case(without_prefix(name), "ALL");
}

std::uint64_t all_capabilities() {
  return (std::uint64_t{1} << kNames.size()) - 1;
}

}  // namespace muster::node
