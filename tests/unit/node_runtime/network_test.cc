#include "node/runtime/network.h"

#include <linux/netlink.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "machine.h"
#include "node/runtime/host.h"

namespace muster::node {
namespace {

using namespace std::chrono_literals;

TEST_F(RuntimeTest, PodsReachEachOtherByAddressAndName) {
  open_runtime();
  const auto hosts = home_ + "/hosts";
  std::ofstream(hosts) << "127.0.0.1 localhost\n";
  SandboxSpec spec;
  spec.hosts_file = hosts;
  const auto server = pod("server", spec);
  pod("client", spec);
  start("server", container({RUNTIME_PROBE, "serve", "2222", "hello\n"}));
  ASSERT_TRUE(await_output("server", "listening"));
  start("client", container({"sleep", "1000"}));
  const auto fetch = [&](const std::string& host) {
    return run(runtime_->exec("client", "main", {RUNTIME_PROBE, "fetch", host, "2222"}, 10s))
        .value();
  };
  EXPECT_EQ(fetch(server.address).output, "hello\n");
  EXPECT_EQ(fetch("trainer-0.example").exit_code, 9) << "nobody knows that name yet";
  std::ofstream(hosts, std::ios::app) << server.address << " trainer-0.example\n";  // in place
  EXPECT_EQ(fetch("trainer-0.example").output, "hello\n");
  EXPECT_TRUE(run(runtime_->tcp_check(server.address, 2222, 5s)).value());
  EXPECT_FALSE(run(runtime_->tcp_check(server.address, 2223, 5s)).value());
  remove("server");
  remove("client");
}

// The kernel takes a pod's link away a little after the pod; until then its hardware address, which
// follows from its IP address, would be twice on the bridge.
TEST_F(RuntimeTest, AnAddressIsGivenOutAgainOnlyWhenItsLinkIsGone) {
  auto network = Network::set_up({.home_key = home_key(home_),
                                  .state_file = home_ + "/block",
                                  .pod_range = "10.222.0.0/16",
                                  .block_prefix = 30,
                                  .service_range = ""});
  ASSERT_TRUE(network) << network.error().message;
  auto netlink = linux::Netlink::open(NETLINK_ROUTE).value();
  const auto link = "mst" + home_key(home_);
  ASSERT_TRUE(linux::create_bridge(netlink, link));
  const auto only = network->allocate().value();
  network->release(only, link);
  const auto too_early = network->allocate();
  EXPECT_TRUE(!too_early && too_early.error().code == ErrorCode::TooManyRequests);
  ASSERT_TRUE(linux::delete_link(netlink, link));
  EXPECT_EQ(network->allocate().value_or("none"), only);
  network->tear_down();
}

TEST_F(RuntimeTest, ServicesLeadToTheirEndpointsInTurn) {
  open_runtime();
  const auto one = pod("one");
  const auto two = pod("two");
  pod("client");
  start("one", container({RUNTIME_PROBE, "serve", "80", "1"}));
  start("two", container({RUNTIME_PROBE, "serve", "80", "2"}));
  start("client", container({"sleep", "1000"}));
  ASSERT_TRUE(await_output("one", "listening"));
  ASSERT_TRUE(await_output("two", "listening"));
  const auto fetch = [&](const std::string& port) {
    return run(runtime_->exec("client", "main", {RUNTIME_PROBE, "fetch", "10.96.0.10", port}, 10s))
        .value();
  };
  ServiceRule service{.cluster_ip = "10.96.0.10", .port = 8080};
  const auto set = [&](std::vector<ServiceRule> rules) {
    const auto done = run(runtime_->set_services("client", std::move(rules)));
    ASSERT_TRUE(done) << done.error().message;
  };
  set({service});
  EXPECT_EQ(fetch("8080").output, "connect: Connection refused\n");
  service.endpoints = {{one.address, 80}, {two.address, 80}};
  set({service});
  std::string answers;
  for (int i = 0; i < 6; ++i) answers += fetch("8080").output;
  EXPECT_EQ(std::ranges::count(answers, '1'), 3) << answers;
  EXPECT_EQ(std::ranges::count(answers, '2'), 3) << answers;
  EXPECT_EQ(fetch("9999").exit_code, 7) << "refused: no such port in the service range";
  service.endpoints = {{two.address, 80}};
  set({service});
  EXPECT_EQ(fetch("8080").output + fetch("8080").output, "22");
  set({});
  EXPECT_EQ(fetch("8080").exit_code, 7);
  for (const char* uid : {"one", "two", "client"}) remove(uid);
}

// With a new shim they come by another way than with one that is there, or when they are many.
TEST_F(RuntimeTest, APodHasItsServicesFromTheStart) {
  open_runtime();
  const auto server = pod("server");
  start("server", container({RUNTIME_PROBE, "serve", "80", "hello\n"}));
  ASSERT_TRUE(await_output("server", "listening"));
  const ServiceRule service{
      .cluster_ip = "10.96.0.10", .port = 8080, .endpoints = {{server.address, 80}}};
  const auto fetched_by = [&](const std::string& uid, int attempt) {
    run_container(uid, container({RUNTIME_PROBE, "fetch", "10.96.0.10", "8080"}, attempt));
    return output(uid, "main", attempt);
  };
  pod("few", {}, {service});
  EXPECT_EQ(fetched_by("few", 0), "hello\n");
  std::vector<ServiceRule> many(2000, service);
  for (std::size_t i = 1; i < many.size(); ++i)
    many[i].port = static_cast<std::uint16_t>(10'000 + i);
  pod("many", {}, many);
  EXPECT_EQ(fetched_by("many", 0), "hello\n");
  pod("none");
  EXPECT_EQ(fetched_by("none", 0).find("hello"), std::string::npos);
  pod("none", {}, {service});
  EXPECT_EQ(fetched_by("none", 1), "hello\n") << "its sandbox was there already";
  for (const char* uid : {"server", "few", "many", "none"}) remove(uid);
}

TEST_F(RuntimeTest, PodsOfOneJobShareMemoryAndOthersDoNot) {
  open_runtime();
  SandboxSpec job;
  job.shm_key = "job-1";
  pod("rank0", job);
  pod("rank1", job);
  pod("other");
  EXPECT_EQ(run_container("rank0", container({"sh", "-c", "echo shared > /dev/shm/x"})).exit_code,
            0);
  EXPECT_EQ(run_container("rank1", container({"cat", "/dev/shm/x"})).exit_code, 0);
  EXPECT_EQ(run_container("other", container({"cat", "/dev/shm/x"})).exit_code, 1);
  remove("rank0");
  EXPECT_EQ(run_container("rank1", container({"cat", "/dev/shm/x"}, 1)).exit_code, 0);
  remove("rank1");
  remove("other");
}

TEST_F(RuntimeTest, HostNetworkIsTheHosts) {
  open_runtime();
  SandboxSpec spec;
  spec.host_network = true;
  EXPECT_EQ(pod("a", spec).address, host_address());
  EXPECT_EQ(run_container("a", container({"sh", "-c", "ls /sys/class/net | wc -l"})).exit_code, 0);
  EXPECT_GT(std::atoi(output("a").c_str()), 2);
  EXPECT_TRUE(run(runtime_->set_services("a", {})));
  remove("a");
}

Task<void> start_one(Runtime& runtime, std::string uid, std::string key,
                     std::vector<std::string>& errors) {
  auto made = co_await runtime.create_sandbox({.pod_uid = uid,
                                               .pod_namespace = "default",
                                               .pod_name = "pod-" + uid,
                                               .hostname = uid,
                                               .shm_key = key},
                                              {});
  if (!made) {
    errors.push_back(made.error().message);
    co_return;
  }
  auto started = co_await runtime.start_container(
      uid, {.name = "main", .argv = {"/bin/sleep", "1000"}, .env = {{"PATH", "/bin"}}});
  if (!started || !started->start)
    errors.push_back(started ? started->message : started.error().message);
}

Task<void> remove_one(Runtime& runtime, std::string uid, std::vector<std::string>& errors) {
  auto removed = co_await runtime.remove_sandbox(std::move(uid));
  if (!removed) errors.push_back(removed.error().message);
}

TEST_F(RuntimeTest, StartsFivePodsTogetherQuickly) {
  open_runtime();
  const auto milliseconds = [](Duration d) {
    return std::chrono::duration<double, std::milli>(d).count();
  };
  const auto alone = loop_->monotonic();
  pod("alone");
  const auto made = loop_->monotonic();
  start("alone", container({"/bin/sleep", "1000"}));
  std::printf("one pod: sandbox in %.1f ms, container in %.1f ms\n", milliseconds(made - alone),
              milliseconds(loop_->monotonic() - made));
  remove("alone");
  for (const char* round : {"cold", "warm", "again"}) {
    std::vector<std::string> errors;
    const auto begin = loop_->monotonic();
    rt::TaskScope scope(*loop_);
    for (int i = 0; i < 5; ++i) {
      scope.spawn(start_one(*runtime_, round + std::to_string(i), round, errors));
    }
    run(scope.join());
    const auto started = loop_->monotonic();
    for (int i = 0; i < 5; ++i)
      scope.spawn(remove_one(*runtime_, round + std::to_string(i), errors));
    run(scope.join());
    EXPECT_EQ(errors, std::vector<std::string>{});
    std::printf("five pods, %s: started in %.1f ms, removed in %.1f ms\n", round,
                milliseconds(started - begin), milliseconds(loop_->monotonic() - started));
    EXPECT_LT(started - begin, 3s);
  }
}

// Iface Destination Gateway Flags RefCnt Use Metric Mask, as the kernel prints them.
constexpr std::string_view kRoutes =
    "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\n"
    "eth0\t00000000\t010200C0\t0003\t0\t0\t0\t00000000\n"
    "other\t0000DC0A\t00000000\t0001\t0\t0\t0\t0000FCFF\n"
    "*\t0000DE0A\t00000000\t0001\t0\t0\t1291845632\t0000FFFF\n";

TEST(FreeBlock, GoesRoundWhatOthersHave) {
  const auto range = linux::parse_range("10.222.0.0/16").value();
  const auto routes = std::string(kRoutes);
  // Somebody has 10.220.0.0/14 (addresses are little-endian), so nothing is left.
  EXPECT_EQ(free_block(range, 22, 0, routes, "muster1").error().code, ErrorCode::Conflict);
  EXPECT_EQ(free_block(range, 22, 0, routes, "other").value().base, range.base)
      << "our own does not count";
  const std::string small = "other\t0000DE0A\t0\t1\t0\t0\t0\t00FCFFFF\n";  // 10.222.0.0/22
  EXPECT_EQ(linux::format_address(free_block(range, 22, 0, small, "muster1").value().base),
            "10.222.4.0");
  EXPECT_EQ(linux::format_address(free_block(range, 22, 63, "", "muster1").value().base),
            "10.222.252.0");
  EXPECT_FALSE(free_block(range, 8, 0, "", "muster1"));
}

TEST(Ranges, AreReadAndRefused) {
  EXPECT_EQ(linux::format_address(linux::parse_range("10.1.2.3/24").value().base), "10.1.2.0");
  for (const char* bad :
       {"", "10.0.0.0", "10.0.0.0/", "10.0.0.0/33", "10.0.0/8", "x/8", "10.0.0.0/8x"}) {
    EXPECT_FALSE(linux::parse_range(bad)) << bad;
  }
}

TEST(Rights, NamesEveryOneThatIsMissing) {
  EXPECT_TRUE(check_rights("Name:\tx\nCapEff:\t000001ffffffffff\n"));
  const auto refused = check_rights("Name:\tx\nCapEff:\t0000000000001000\n");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::Forbidden);
  EXPECT_NE(refused.error().message.find("CAP_SYS_ADMIN"), std::string::npos);
  EXPECT_EQ(refused.error().message.find("CAP_NET_ADMIN"), std::string::npos);
}

}  // namespace
}  // namespace muster::node
