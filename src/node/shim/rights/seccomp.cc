#include "node/shim/rights/seccomp.h"

#include <sched.h>
#include <seccomp.h>

#include <array>
#include <cerrno>
#include <memory>
#include <type_traits>

#include "node/shim/rights/capabilities.h"

namespace muster::node::shim {

namespace {

using Filter = std::remove_pointer_t<scmp_filter_ctx>;
constexpr std::uint64_t kNobody = 0;

struct Refused {
  int call;
  std::uint64_t unless;  // the container may have one of these rights
};

// Refused with EPERM.
constexpr std::array kRefused = {
    // Other kernels and code for this one.
    Refused{SCMP_SYS(kexec_load), kNobody}, Refused{SCMP_SYS(kexec_file_load), kNobody},
    Refused{SCMP_SYS(create_module), kNobody}, Refused{SCMP_SYS(query_module), kNobody},
    Refused{SCMP_SYS(get_kernel_syms), kNobody},
    Refused{SCMP_SYS(init_module), right(CAP_SYS_MODULE)},
    Refused{SCMP_SYS(finit_module), right(CAP_SYS_MODULE)},
    Refused{SCMP_SYS(delete_module), right(CAP_SYS_MODULE)},
    Refused{SCMP_SYS(bpf), right(CAP_SYS_ADMIN) | right(CAP_BPF)},
    Refused{SCMP_SYS(perf_event_open), right(CAP_SYS_ADMIN) | right(CAP_PERFMON)},
    // Calls that no filter sees, and pages that others wait for.
    Refused{SCMP_SYS(io_uring_setup), kNobody}, Refused{SCMP_SYS(io_uring_enter), kNobody},
    Refused{SCMP_SYS(io_uring_register), kNobody},
    Refused{SCMP_SYS(userfaultfd), right(CAP_SYS_PTRACE)},
    // Files past their paths.
    Refused{SCMP_SYS(open_by_handle_at), right(CAP_DAC_READ_SEARCH)},
    Refused{SCMP_SYS(lookup_dcookie), right(CAP_SYS_ADMIN)},
    Refused{SCMP_SYS(fanotify_init), right(CAP_SYS_ADMIN)},
    Refused{SCMP_SYS(quotactl), right(CAP_SYS_ADMIN)},
    Refused{SCMP_SYS(quotactl_fd), right(CAP_SYS_ADMIN)}, Refused{SCMP_SYS(nfsservctl), kNobody},
    // Mounts.
    Refused{SCMP_SYS(mount), right(CAP_SYS_ADMIN)}, Refused{SCMP_SYS(umount), right(CAP_SYS_ADMIN)},
    Refused{SCMP_SYS(umount2), right(CAP_SYS_ADMIN)},
    Refused{SCMP_SYS(move_mount), right(CAP_SYS_ADMIN)},
    Refused{SCMP_SYS(open_tree), right(CAP_SYS_ADMIN)},
    Refused{SCMP_SYS(fsopen), right(CAP_SYS_ADMIN)},
    Refused{SCMP_SYS(fsconfig), right(CAP_SYS_ADMIN)},
    Refused{SCMP_SYS(fsmount), right(CAP_SYS_ADMIN)},
    Refused{SCMP_SYS(fspick), right(CAP_SYS_ADMIN)},
    Refused{SCMP_SYS(mount_setattr), right(CAP_SYS_ADMIN)}, Refused{SCMP_SYS(pivot_root), kNobody},
    // Namespaces of others, and the names of this one.
    Refused{SCMP_SYS(setns), right(CAP_SYS_ADMIN)},
    Refused{SCMP_SYS(sethostname), right(CAP_SYS_ADMIN)},
    Refused{SCMP_SYS(setdomainname), right(CAP_SYS_ADMIN)},
    // Keys belong to users, not to namespaces.
    Refused{SCMP_SYS(add_key), kNobody}, Refused{SCMP_SYS(request_key), kNobody},
    Refused{SCMP_SYS(keyctl), kNobody},
    // The machine as a whole.
    Refused{SCMP_SYS(reboot), right(CAP_SYS_BOOT)}, Refused{SCMP_SYS(swapon), right(CAP_SYS_ADMIN)},
    Refused{SCMP_SYS(swapoff), right(CAP_SYS_ADMIN)}, Refused{SCMP_SYS(acct), right(CAP_SYS_PACCT)},
    Refused{SCMP_SYS(syslog), right(CAP_SYS_ADMIN) | right(CAP_SYSLOG)},
    Refused{SCMP_SYS(settimeofday), right(CAP_SYS_TIME)},
    Refused{SCMP_SYS(stime), right(CAP_SYS_TIME)},
    Refused{SCMP_SYS(clock_settime), right(CAP_SYS_TIME)},
    Refused{SCMP_SYS(clock_settime64), right(CAP_SYS_TIME)},
    Refused{SCMP_SYS(iopl), right(CAP_SYS_RAWIO)}, Refused{SCMP_SYS(ioperm), right(CAP_SYS_RAWIO)},
    Refused{SCMP_SYS(vhangup), right(CAP_SYS_TTY_CONFIG)}, Refused{SCMP_SYS(_sysctl), kNobody},
    Refused{SCMP_SYS(sysfs), kNobody}, Refused{SCMP_SYS(uselib), kNobody},
    Refused{SCMP_SYS(ustat), kNobody}, Refused{SCMP_SYS(vm86), kNobody},
    Refused{SCMP_SYS(vm86old), kNobody},
    // ptrace, process_vm_readv and the like are let through: the kernel asks for the right over the
    // other process.
};

constexpr std::array<std::uint64_t, 7> kNamespaces = {CLONE_NEWNS,  CLONE_NEWCGROUP, CLONE_NEWUTS,
                                                      CLONE_NEWIPC, CLONE_NEWUSER,   CLONE_NEWPID,
                                                      CLONE_NEWNET};
constexpr std::uint64_t kNewTime = 0x80;  // of unshare; for clone it is a part of a signal

// A rule for a call that an architecture does not have is none.
Result<void> check(int outcome) {
  if (outcome == 0 || outcome == -EDOM) return {};
  return fail_errno("seccomp profile", -outcome);
}

Result<void> refuse_with_bits(Filter* filter, int call, std::uint64_t mask, std::uint64_t bits) {
  const scmp_arg_cmp argument{.arg = 0, .op = SCMP_CMP_MASKED_EQ, .datum_a = mask, .datum_b = bits};
  return check(seccomp_rule_add_array(filter, SCMP_ACT_ERRNO(EPERM), call, 1, &argument));
}

// New namespaces are for those who may make them. clone3 hides its flags in memory: programs that
// are told that it does not exist use clone.
Result<void> refuse_namespaces(Filter* filter) {
  for (const auto one : kNamespaces) {
    TRY(refuse_with_bits(filter, SCMP_SYS(clone), one, one));
    TRY(refuse_with_bits(filter, SCMP_SYS(unshare), one, one));
  }
  TRY(refuse_with_bits(filter, SCMP_SYS(unshare), kNewTime, kNewTime));
  return check(
      seccomp_rule_add_array(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0, nullptr));
}

// The plain ones and the question which it is (all bits) are let through; what makes addresses
// known in advance or data executable is not.
Result<void> refuse_personalities(Filter* filter) {
  constexpr std::uint64_t kTop = 0x80000000;
  constexpr std::array<std::uint64_t, 5> kWeak = {0x0040000, 0x0100000, 0x0200000, 0x0400000,
                                                  0x8000000};
  for (const auto bit : kWeak) {
    TRY(refuse_with_bits(filter, SCMP_SYS(personality), kTop | bit, bit));
  }
  for (std::uint64_t bit = 1; bit < kTop; bit <<= 1U) {
    TRY(refuse_with_bits(filter, SCMP_SYS(personality), kTop | bit, kTop));
  }
  return {};
}

// 32-bit programs run, and the same is refused to them. No other way into the kernel exists.
Result<void> add_architectures(Filter* filter) {
  TRY(check(seccomp_attr_set(filter, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_ERRNO(ENOSYS))));
  switch (seccomp_arch_native()) {
    case SCMP_ARCH_X86_64:
      return check(seccomp_arch_add(filter, SCMP_ARCH_X86));
    case SCMP_ARCH_AARCH64:
      return check(seccomp_arch_add(filter, SCMP_ARCH_ARM));
    default:
      return {};
  }
}

}  // namespace

Result<void> refuse_unusual_calls(std::uint64_t rights) {
  const std::unique_ptr<Filter, void (*)(scmp_filter_ctx)> filter(seccomp_init(SCMP_ACT_ALLOW),
                                                                  seccomp_release);
  if (!filter) return fail_errno("seccomp profile", ENOMEM);
  // Whether programs may gain rights by an exec is not decided here.
  TRY(check(seccomp_attr_set(filter.get(), SCMP_FLTATR_CTL_NNP, 0)));
  TRY(add_architectures(filter.get()));
  for (const auto& [call, unless] : kRefused) {
    if ((rights & unless) != 0) continue;
    TRY(check(seccomp_rule_add_array(filter.get(), SCMP_ACT_ERRNO(EPERM), call, 0, nullptr)));
  }
  if ((rights & right(CAP_SYS_ADMIN)) == 0) TRY(refuse_namespaces(filter.get()));
  TRY(refuse_personalities(filter.get()));
  return check(seccomp_load(filter.get()));
}

}  // namespace muster::node::shim
