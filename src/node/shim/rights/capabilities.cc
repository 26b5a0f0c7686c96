#include "node/shim/rights/capabilities.h"

#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace muster::node::shim {

namespace {

// Programs with rights of their own in their files would add what we inherited to them.
Result<void> inherit_nothing() {
  __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3> sets{};
  if (::syscall(SYS_capget, &header, sets.data()) != 0) return fail_errno("reading capabilities");
  for (auto& set : sets) set.inheritable = 0;
  if (::syscall(SYS_capset, &header, sets.data()) != 0) return fail_errno("giving up capabilities");
  return {};
}

}  // namespace

std::uint64_t rights_of(const ContainerSpec& spec) {
  return spec.privileged ? ~std::uint64_t{0} : spec.capabilities.value_or(kUsualRights);
}

Result<void> give_up_other_rights(std::uint64_t kept) {
  for (int number = 0; number < 64; ++number) {
    if ((kept & right(number)) != 0) continue;
    if (::prctl(PR_CAPBSET_DROP, number, 0, 0, 0) == 0) continue;
    if (errno != EINVAL) return fail_errno("giving up capabilities");
    break;  // past the last one that the kernel knows
  }
  if (::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) != 0)
    return fail_errno("giving up capabilities");
  return inherit_nothing();
}

}  // namespace muster::node::shim
