#pragma once

#include <linux/capability.h>

#include <cstdint>

namespace muster::node {

constexpr std::uint64_t right(int capability) {
  return std::uint64_t{1} << static_cast<unsigned>(capability);
}

// What container runtimes leave by default, without MKNOD: nothing else would keep a container from
// the machine's disks.
inline constexpr std::uint64_t kUsualRights =
    right(CAP_CHOWN) | right(CAP_DAC_OVERRIDE) | right(CAP_FSETID) | right(CAP_FOWNER) |
    right(CAP_NET_RAW) | right(CAP_SETGID) | right(CAP_SETUID) | right(CAP_SETFCAP) |
    right(CAP_SETPCAP) | right(CAP_NET_BIND_SERVICE) | right(CAP_KILL) | right(CAP_SYS_CHROOT) |
    right(CAP_AUDIT_WRITE);

}  // namespace muster::node
