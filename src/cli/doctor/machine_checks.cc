#include "cli/doctor/machine_checks.h"

#include <fmt/format.h>

#include "base/strings.h"
#include "node/disk/limits.h"
#include "node/runtime/rootless/way_out.h"

namespace muster::cli {
namespace {

using node::linux::CgroupRoots;

Finding rights(const MachineFacts& facts) {
  Finding out{.check = "rights", .found = "all that pods need"};
  if (facts.missing_rights.empty()) return out;
  out.health = Health::Error;
  out.found = "without " + join(facts.missing_rights, ", ");
  out.remedy = "run as root: sudo muster doctor; or let a cluster run the jobs (--kubeconfig)";
  return out;
}

// What an ordinary user has instead of root's rights.
void without_root(const OwnTrials& own, const std::string& kernel, std::vector<Finding>& out) {
  if (!own.namespaces.empty()) {
    out.push_back({.health = Health::Error,
                   .check = "rights",
                   .found = "not root, and no namespaces of its own: " + own.namespaces,
                   .remedy = "run as root, or let users have them: sysctl "
                             "user.max_user_namespaces, kernel.unprivileged_userns_clone, "
                             "kernel.apparmor_restrict_unprivileged_userns; or let a cluster run "
                             "the jobs (--kubeconfig)"});
    return;
  }
  out.push_back(
      {.check = "rights",
       .found = fmt::format("not root: pods run in a user namespace, which Linux {} lets them have",
                            kernel)});
  Finding way_out{.check = "way out",
                  .found = "pods reach out of the machine through " + own.way_out};
  if (own.way_out.empty() || !own.no_way_out.empty()) {
    way_out.health = Health::Warning;
    way_out.found = own.way_out.empty() ? "pods reach each other only"
                                        : "only pods with hostNetwork reach out of the machine";
    if (!own.no_way_out.empty()) way_out.found += ": " + own.no_way_out;
    way_out.remedy = own.no_way_out.empty()
                         ? "install " + node::carriers_to_install()
                         : "a /dev/net/tun that users may open (chmod 666), a default route; or "
                           "run as root";
  }
  out.push_back(std::move(way_out));
}

Finding tried(std::string check, std::string good, const std::string& failure, std::string remedy) {
  if (failure.empty()) return {.check = std::move(check), .found = std::move(good)};
  return {.health = Health::Error,
          .check = std::move(check),
          .found = failure,
          .remedy = std::move(remedy)};
}

void kernel(const MachineFacts& facts, std::vector<Finding>& out) {
  if (!facts.trials) {
    out.push_back({.health = Health::Warning,
                   .check = "kernel",
                   .found = fmt::format("Linux {}, not tried without those rights", facts.kernel),
                   .remedy = "run as root: sudo muster doctor"});
    return;
  }
  const KernelTrials& trials = *facts.trials;
  out.push_back(tried("namespaces",
                      fmt::format("Linux {} has those of mounts and networks", facts.kernel),
                      trials.namespaces,
                      "a kernel with CONFIG_NAMESPACES and CONFIG_NET_NS; sysctl "
                      "user.max_net_namespaces and user.max_mnt_namespaces above 0"));
  if (!trials.namespaces.empty()) return;
  out.push_back(tried("pod network", "a bridge and links on it work", trials.links,
                      "modprobe -a bridge veth, or a kernel with CONFIG_BRIDGE and CONFIG_VETH"));
  out.push_back(tried("services", "nftables rules work", trials.services,
                      "modprobe -a nf_tables nft_chain_nat nft_nat nft_numgen nft_reject_ipv4, or "
                      "a kernel with CONFIG_NF_TABLES_IPV4, CONFIG_NFT_NAT, CONFIG_NFT_NUMGEN and "
                      "CONFIG_NFT_REJECT; the program nft is not needed"));
  out.push_back(tried("overlay", fmt::format("can be laid over / from {}", facts.home),
                      trials.overlay,
                      "modprobe overlay, or a kernel with CONFIG_OVERLAY_FS; a home that lies on "
                      "an overlay or a network file system itself belongs elsewhere (--home)"));
}

Finding cgroups(const MachineFacts& facts) {
  if (facts.cgroups == CgroupRoots::Version::None) {
    return {.health = Health::Warning,
            .check = "cgroups",
            .found = "none that can be written: limits of cpu and memory have no effect",
            .remedy = facts.missing_rights.empty() && !facts.own
                          ? "mount -t cgroup2 none /sys/fs/cgroup, writable, with the controllers "
                            "cpu, memory and pids"
                          : "run as root"};
  }
  const int version = facts.cgroups == CgroupRoots::Version::V2 ? 2 : 1;
  if (!facts.bounds_processes) {
    return {.health = Health::Warning,
            .check = "cgroups",
            .found = fmt::format("version {} without the controller pids: one pod can take all "
                                 "process numbers",
                                 version),
            .remedy = "a kernel with CONFIG_CGROUP_PIDS, its controller mounted"};
  }
  return {.check = "cgroups", .found = fmt::format("version {} with cpu, memory, pids", version)};
}

Finding disk(const MachineFacts& facts) {
  Finding out{.check = "disk"};
  if (!facts.disk) {
    out.health = Health::Error;
    out.found = fmt::format("{} cannot be looked at", facts.home);
    out.remedy = "a home that this user may read (--home, MUSTER_HOME)";
    return out;
  }
  out.found = fmt::format("{} of {} free for {}", node::bytes_text(facts.disk->available),
                          node::bytes_text(facts.disk->total), facts.home);
  if (node::is_full(*facts.disk)) {
    out.health = Health::Error;
    out.found += node::lacks_files(*facts.disk)
                     ? ", and no more files can be made"
                     : fmt::format(", of which {} are kept free: no pod is taken",
                                   node::bytes_text(node::disk_reserve(*facts.disk)));
  } else if (node::runs_low(*facts.disk)) {
    out.health = Health::Warning;
  }
  if (out.health != Health::Ok)
    out.remedy = "make room there, or have the home on another disk (--home, MUSTER_HOME)";
  return out;
}

Finding open_files(const MachineFacts& facts) {
  // Two listeners' connections take half of them, a pod ten: 200 pods beside 1,000 connections.
  constexpr std::uint64_t kEnough = 4096;
  Finding out{.check = "open files", .found = fmt::format("at most {}", facts.open_files)};
  if (facts.open_files >= kEnough) return out;
  out.health = Health::Warning;
  out.found += fmt::format(", enough for about {} pods", facts.open_files / 20);
  out.remedy = "ulimit -Hn 65536, LimitNOFILE=65536 of a service";
  return out;
}

Finding programs(const MachineFacts& facts) {
  if (facts.shim_problem.empty()) return {.check = "programs", .found = "muster-shim is there"};
  return {.health = Health::Error,
          .check = "programs",
          .found = facts.shim_problem,
          .remedy = "install muster, muster-shim and muster-agent into one directory"};
}

Finding clock(const MachineFacts& facts) {
  // Nothing was built before; whoever lives there has no valid certificate.
  constexpr Time kEarliest = std::chrono::sys_days(std::chrono::year(2025) / 1 / 1);
  Finding out{.check = "clock", .found = format_time(facts.now)};
  if (facts.now < kEarliest) {
    out.health = Health::Error;
    out.found += " cannot be now: certificates and tokens are not valid then";
  } else if (!facts.clock_is_kept) {
    out.health = Health::Warning;
    out.found += ", which nobody keeps right";
  } else {
    out.found += ", kept right";
  }
  if (out.health != Health::Ok)
    out.remedy = "run a time service, as chrony or systemd-timesyncd: timedatectl set-ntp true";
  return out;
}

}  // namespace

std::vector<Finding> check_machine(const MachineFacts& facts) {
  std::vector<Finding> out;
  if (facts.own) {
    without_root(*facts.own, facts.kernel, out);
  } else {
    out.push_back(rights(facts));
    kernel(facts, out);
  }
  out.push_back(cgroups(facts));
  out.push_back(disk(facts));
  out.push_back(open_files(facts));
  out.push_back(programs(facts));
  out.push_back(clock(facts));
  return out;
}

}  // namespace muster::cli
