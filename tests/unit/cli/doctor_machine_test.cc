#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/doctor/machine_checks.h"
#include "json/write.h"

// What `muster doctor` says of a machine, word for word.
namespace muster::cli {
namespace {

using node::linux::CgroupRoots;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::int64_t kGibi = std::int64_t{1} << 30;

MachineFacts good_machine() {
  return {.home = "/root/.muster",
          .kernel = "6.1.0",
          .trials = KernelTrials{},
          .cgroups = CgroupRoots::Version::V2,
          .bounds_processes = true,
          .disk = node::DiskSpace{.total = 100 * kGibi, .available = 40 * kGibi},
          .open_files = 1'048'576,
          .now = parse_time("2026-11-16T17:00:00Z").value(),
          .clock_is_kept = true};
}

std::string text_of(const MachineFacts& facts) {
  return findings_text(check_machine(facts));
}

TEST(DoctorOfAMachine, FindsAGoodOneGood) {
  EXPECT_EQ(text_of(good_machine()),
            "ok   rights        all that pods need\n"
            "ok   namespaces    Linux 6.1.0 has those of mounts and networks\n"
            "ok   pod network   a bridge and links on it work\n"
            "ok   services      nftables rules work\n"
            "ok   overlay       can be laid over / from /root/.muster\n"
            "ok   cgroups       version 2 with cpu, memory, pids\n"
            "ok   disk          40Gi of 100Gi free for /root/.muster\n"
            "ok   open files    at most 1048576\n"
            "ok   programs      muster-shim is there\n"
            "ok   clock         2026-11-16T17:00:00Z, kept right\n"
            "0 errors, 0 warnings\n");
  EXPECT_FALSE(has_error(check_machine(good_machine())));
}

TEST(DoctorOfAMachine, WithoutRootSaysWhichRightsAreMissing) {
  MachineFacts facts = good_machine();
  facts.missing_rights = {"CAP_NET_ADMIN (pod addresses and service rules)",
                          "CAP_SYS_ADMIN (namespaces, mounts and cgroups)"};
  facts.trials.reset();
  facts.cgroups = CgroupRoots::Version::None;
  EXPECT_EQ(
      text_of(facts),
      "error     rights       without CAP_NET_ADMIN (pod addresses and service rules), "
      "CAP_SYS_ADMIN (namespaces, mounts and cgroups); remedy: run as root: sudo muster doctor; "
      "or let a cluster run the jobs (--kubeconfig)\n"
      "warning   kernel       Linux 6.1.0, not tried without those rights; remedy: run as root: "
      "sudo muster doctor\n"
      "warning   cgroups      none that can be written: limits of cpu and memory have no effect; "
      "remedy: run as root\n"
      "ok        disk         40Gi of 100Gi free for /root/.muster\n"
      "ok        open files   at most 1048576\n"
      "ok        programs     muster-shim is there\n"
      "ok        clock        2026-11-16T17:00:00Z, kept right\n"
      "1 error, 2 warnings\n");
  EXPECT_TRUE(has_error(check_machine(facts)));
}

TEST(DoctorOfAMachine, OfAnOrdinaryUserSaysWhatPodsReach) {
  MachineFacts facts = good_machine();
  facts.missing_rights = {"CAP_KILL (ending pods)"};
  facts.trials.reset();
  facts.own = OwnTrials{.way_out = "pasta"};
  EXPECT_THAT(text_of(facts),
              HasSubstr("ok   rights       not root: pods run in a user namespace, which Linux "
                        "6.1.0 lets them have\n"
                        "ok   way out      pods reach out of the machine through pasta\n"));
  facts.own = OwnTrials{};
  EXPECT_THAT(text_of(facts),
              HasSubstr("warning   way out      pods reach each other only; remedy: "
                        "install pasta (package passt) or slirp4netns\n"));
  facts.own = OwnTrials{.no_way_out = "pasta: no tun"};
  EXPECT_THAT(text_of(facts),
              HasSubstr("warning   way out      pods reach each other only: pasta: no tun; remedy: "
                        "a /dev/net/tun that users may open"));
  facts.own = OwnTrials{.way_out = "pasta", .no_way_out = "read-only"};
  EXPECT_THAT(text_of(facts),
              HasSubstr("only pods with hostNetwork reach out of the machine: read-only;"));
  EXPECT_FALSE(has_error(check_machine(facts)));
  facts.own = OwnTrials{.namespaces = "a user namespace: No space left on device"};
  EXPECT_THAT(text_of(facts),
              HasSubstr("error   rights       not root, and no namespaces of its "
                        "own: a user namespace: No space left on device; remedy: "));
  EXPECT_TRUE(has_error(check_machine(facts)));
}

TEST(DoctorOfAMachine, WithoutNftablesNamesTheModules) {
  MachineFacts facts = good_machine();
  facts.trials->services = "netlink socket: Protocol not supported";
  EXPECT_THAT(text_of(facts),
              HasSubstr("error   services      netlink socket: Protocol not supported; remedy: "
                        "modprobe -a nf_tables nft_chain_nat nft_nat nft_numgen nft_reject_ipv4, "
                        "or a kernel with CONFIG_NF_TABLES_IPV4, CONFIG_NFT_NAT, "
                        "CONFIG_NFT_NUMGEN and CONFIG_NFT_REJECT; the program nft is not "
                        "needed\n"));
  EXPECT_THAT(text_of(facts), HasSubstr("\n1 error, 0 warnings\n"));
}

TEST(DoctorOfAMachine, WhatNeedsNamespacesIsNotTriedWithoutThem) {
  MachineFacts facts = good_machine();
  facts.trials->namespaces = "unshare: No space left on device";
  EXPECT_THAT(text_of(facts), HasSubstr("error   namespaces   unshare: No space left on device"));
  EXPECT_THAT(text_of(facts), HasSubstr("user.max_net_namespaces"));
  EXPECT_THAT(text_of(facts), Not(HasSubstr("overlay")));
}

TEST(DoctorOfAMachine, EverythingElseHasItsOwnWords) {
  const struct {
    const char* said;
    std::function<void(MachineFacts&)> change;
  } table[] = {
      {"error   pod network   create the bridge: x; remedy: modprobe -a bridge veth",
       [](MachineFacts& it) { it.trials->links = "create the bridge: x"; }},
      {"error   overlay       mount overlay: x; remedy: modprobe overlay",
       [](MachineFacts& it) { it.trials->overlay = "mount overlay: x"; }},
      {"warning   cgroups       none that can be written: limits of cpu and memory have no "
       "effect; remedy: mount -t cgroup2 none /sys/fs/cgroup",
       [](MachineFacts& it) { it.cgroups = CgroupRoots::Version::None; }},
      {"warning   cgroups       version 1 without the controller pids",
       [](MachineFacts& it) {
         it.cgroups = CgroupRoots::Version::V1;
         it.bounds_processes = false;
       }},
      {"error   disk          100Mi of 100Gi free for /root/.muster, of which 256Mi are kept "
       "free: no pod is taken; remedy: make room there",
       [](MachineFacts& it) { it.disk->available = 100 << 20; }},
      {"warning   disk          300Mi of 100Gi free for /root/.muster; remedy: make room there",
       [](MachineFacts& it) { it.disk->available = 300 << 20; }},
      {"error   disk          /root/.muster cannot be looked at",
       [](MachineFacts& it) { it.disk.reset(); }},
      {"warning   open files    at most 1024, enough for about 51 pods; remedy: ulimit -Hn",
       [](MachineFacts& it) { it.open_files = 1024; }},
      {"error   programs      /x/muster-shim is missing; remedy: install muster, muster-shim",
       [](MachineFacts& it) { it.shim_problem = "/x/muster-shim is missing"; }},
      {"error   clock         1970-01-02T00:00:00Z cannot be now",
       [](MachineFacts& it) { it.now = Time(std::chrono::hours(24)); }},
      {"warning   clock         2026-11-16T17:00:00Z, which nobody keeps right; remedy: run a "
       "time service",
       [](MachineFacts& it) { it.clock_is_kept = false; }},
  };
  for (const auto& row : table) {
    MachineFacts facts = good_machine();
    row.change(facts);
    EXPECT_THAT(text_of(facts), HasSubstr(row.said));
  }
}

TEST(DoctorOfAMachine, AsJson) {
  const std::vector<Finding> findings = {
      {.check = "rights", .found = "all"},
      {.health = Health::Error, .check = "disk", .found = "full", .remedy = "make room"}};
  EXPECT_EQ(json::write(findings_json(findings)),
            R"({"checks":[{"check":"rights","health":"ok","found":"all"},)"
            R"({"check":"disk","health":"error","found":"full","remedy":"make room"}],)"
            R"("errors":1,"warnings":0})");
}

}  // namespace
}  // namespace muster::cli
