#include "node/shim/capabilities.h"

#include <linux/capability.h>
#include <sys/prctl.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace muster::node::shim {

namespace {

// What container runtimes leave by default, without CAP_MKNOD (nothing else would keep a container
// from the machine's disks), and with the two that programs for fast networks and NUMA expect.
constexpr std::array kKept = {CAP_CHOWN,       CAP_DAC_OVERRIDE,     CAP_FSETID,  CAP_FOWNER,
                              CAP_NET_RAW,     CAP_SETGID,           CAP_SETUID,  CAP_SETFCAP,
                              CAP_SETPCAP,     CAP_NET_BIND_SERVICE, CAP_KILL,    CAP_SYS_CHROOT,
                              CAP_AUDIT_WRITE, CAP_IPC_LOCK,         CAP_SYS_NICE};

}  // namespace

Result<void> give_up_machine_rights() {
  // Past the last one that the kernel knows it says EINVAL.
  for (unsigned long right = 0; ::prctl(PR_CAPBSET_READ, right, 0, 0, 0) >= 0; ++right) {
    if (std::ranges::find(kKept, static_cast<int>(right)) != kKept.end()) continue;
    if (::prctl(PR_CAPBSET_DROP, right, 0, 0, 0) != 0) return fail_errno("giving up capabilities");
  }
  if (::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) != 0)
    return fail_errno("giving up capabilities");
  return {};
}

}  // namespace muster::node::shim
