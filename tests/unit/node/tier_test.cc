#include "node/agent/tier.h"

#include <gtest/gtest.h>

#include "node/linux/cgroup.h"
#include "node/runtime/rootless/way_out.h"
#include "unit/node/fixture.h"

namespace muster::node {
namespace {

Tier without_root() {
  return {.root = false,
          .limits = false,
          .users = {{.first = 0, .outside = 1000, .count = 1}},
          .groups = {{.first = 0, .outside = 100, .count = 1}}};
}

json::Value pod_with(json::Value spec) {
  return json::Object{{"spec", std::move(spec)}};
}

json::Value with_context(const char* field, json::Value value) {
  return pod_with(json::Object{{"securityContext", json::Object{{field, std::move(value)}}}});
}

TEST(Tier, OfRootNothingIsSaidAndNothingRefused) {
  EXPECT_EQ(describe(Tier{}), "");
  EXPECT_EQ(refusal_in(Tier{}, with_context("runAsUser", 1000)), std::nullopt);
  EXPECT_EQ(declined_in(Tier{}, pod_with(json::Object{})), "");
}

TEST(Tier, WithoutRootItsLineSaysWhatIsMissing) {
  Tier tier = without_root();
  EXPECT_EQ(describe(tier),
            "without root, pods in a user namespace · no limits of cpu and memory: no cgroup is "
            "delegated · pods reach each other only, there is no way out of the machine: install "
            "pasta (package passt) or slirp4netns");
  tier.limits = true;
  EXPECT_EQ(describe(tier),
            "without root, pods in a user namespace · limits in a delegated cgroup · pods reach "
            "each other only, there is no way out of the machine: install pasta (package passt) or "
            "slirp4netns");
}

TEST(Tier, ItsLineSaysHowPodsGetOutOfTheMachineOrWhyNot) {
  Tier tier = without_root();
  tier.no_way_out = "pasta: no tun";
  EXPECT_TRUE(describe(tier).ends_with("no way out of the machine: pasta: no tun"));
  tier.way_out = "pasta";
  tier.no_way_out = "";
  EXPECT_TRUE(describe(tier).ends_with(" · out of the machine through pasta"));
  tier.all_go_out = false;
  tier.no_way_out = "read-only";
  EXPECT_TRUE(describe(tier).ends_with(
      " · out of the machine with hostNetwork only, through pasta (read-only)"));
}

TEST(Tier, UsersAndGroupsThatAreNotThereAreRefused) {
  const Tier tier = without_root();
  EXPECT_EQ(refusal_in(tier, with_context("runAsUser", 1000)),
            "spec.securityContext.runAsUser: 1000 cannot be obeyed by this node: it runs without "
            "root, where there is only user 0; leave the field out, or run muster as root");
  for (const char* field : {"runAsGroup", "fsGroup"}) {
    EXPECT_TRUE(refusal_in(tier, with_context(field, 5))) << field;
    EXPECT_FALSE(refusal_in(tier, with_context(field, 0))) << field;
  }
  const auto groups = refusal_in(tier, with_context("supplementalGroups", json::Array{0, 7}));
  ASSERT_TRUE(groups);
  EXPECT_TRUE(groups->starts_with("spec.securityContext.supplementalGroups[1]: 7 cannot"));
}

TEST(Tier, ContainersAreLookedAtToo) {
  const json::Value context = json::Object{{"runAsUser", 3}};
  const auto pod = pod_with(json::Object{
      {"containers", json::Array{json::Object{{"name", "a"}},
                                 json::Object{{"name", "b"}, {"securityContext", context}}}}});
  const auto refusal = refusal_in(without_root(), pod);
  ASSERT_TRUE(refusal);
  EXPECT_TRUE(refusal->starts_with("spec.containers[1].securityContext.runAsUser: 3 cannot"));
}

TEST(Tier, SubordinateIdsCount) {
  Tier tier = without_root();
  tier.users.push_back({.first = 1, .outside = 100'000, .count = 65'535});
  EXPECT_FALSE(refusal_in(tier, with_context("runAsUser", 1000)));
  const auto refusal = refusal_in(tier, with_context("runAsUser", 65'536));
  ASSERT_TRUE(refusal);
  EXPECT_NE(refusal->find("only user 0, 1 to 65535;"), std::string::npos) << *refusal;
}

TEST(Tier, TheNetworkOfTheMachineIsRefusedWithoutAWayOut) {
  const auto pod = pod_with(json::Object{{"hostNetwork", true}});
  const auto refusal = refusal_in(without_root(), pod);
  ASSERT_TRUE(refusal);
  EXPECT_TRUE(refusal->starts_with("spec.hostNetwork: true cannot be obeyed"));
  EXPECT_FALSE(refusal_in(Tier{}, pod));
  Tier with_way_out = without_root();
  with_way_out.way_out = "slirp4netns";
  EXPECT_FALSE(refusal_in(with_way_out, pod));
}

TEST(WayOut, LastWordsOfAProgramAreItsReason) {
  EXPECT_EQ(last_words(""), "it ended without a word");
  EXPECT_EQ(last_words("starting\n1794859296.4303: Couldn't open it\n\n"), "Couldn't open it");
  EXPECT_EQ(last_words("No interface: none\nFailed to send 42 bytes to syslog\n"),
            "No interface: none");
  EXPECT_EQ(last_words(std::string(1000, 'x')).size(), 300U);
}

TEST(Tier, LimitsWithoutACgroupAreDeclinedByName) {
  Tier tier = without_root();
  const json::Value limits = json::Object{{"cpu", 2}, {"memory", "64Mi"}, {"nvidia.com/gpu", 1}};
  const json::Value resources = json::Object{{"limits", limits}};
  const auto pod = pod_with(json::Object{
      {"initContainers", json::Array{json::Object{{"name", "first"}}}},
      {"containers", json::Array{json::Object{{"name", "main"}, {"resources", resources}}}}});
  EXPECT_EQ(declined_in(tier, pod),
            "limits have no effect here: cpu 2 of main, memory 64Mi of main; muster runs without "
            "root and no cgroup is delegated to its user");
  tier.limits = true;
  EXPECT_EQ(declined_in(tier, pod), "");
}

TEST_F(NodeTest, WithoutRootAPodOfAnotherUserIsRefusedAndOneWithLimitsWarned) {
  options.tier = without_root();
  start();
  create(PodBuilder("other")
             .container("main", "serve")
             .spec("securityContext", R"({"runAsUser":1000})"));
  create(
      PodBuilder("limited").container("main", "serve", R"({"resources":{"limits":{"cpu":"1"}}})"));
  loop.run_for(1s);
  EXPECT_EQ(phase("other"), "Failed");
  EXPECT_EQ((*pod("other"))["status"]["reason"].as_string(), "UnsupportedField");
  EXPECT_EQ(phase("limited"), "Running");
  EXPECT_TRUE(event_message(kDeclinedReason).starts_with("limits have no effect here: cpu 1 of "));
}

TEST(IdMap, IsReadAsTheKernelWritesIt) {
  const auto map =
      linux::parse_id_map("         0       1000          1\n         1     100000      65536\n");
  EXPECT_EQ(map, (linux::IdMap{{.first = 0, .outside = 1000, .count = 1},
                               {.first = 1, .outside = 100'000, .count = 65'536}}));
  EXPECT_TRUE(linux::contains(map, 65'536));
  EXPECT_FALSE(linux::contains(map, 65'537));
  EXPECT_FALSE(linux::is_whole(map));
  EXPECT_TRUE(linux::is_whole(linux::parse_id_map("         0          0 4294967295\n")));
}

TEST(OwnGroup, IsFoundByControllerAndForVersionTwoWithoutOne) {
  constexpr std::string_view kText =
      "5:cpu,cpuacct:/users/one\n4:memory:/\n1:name=systemd:/x\n0::/user.slice/app.slice/"
      "run.scope\n";
  EXPECT_EQ(linux::own_group(kText, "cpu"), "/users/one");
  EXPECT_EQ(linux::own_group(kText, "memory"), "");
  EXPECT_EQ(linux::own_group(kText, "pids"), "");
  EXPECT_EQ(linux::own_group(kText, ""), "/user.slice/app.slice/run.scope");
}

}  // namespace
}  // namespace muster::node
