#include <sys/stat.h>

#include <fstream>
#include <iterator>

#include "node/network/endpoints.h"
#include "node/network/hosts_file.h"
#include "unit/node/fixture.h"

namespace muster::node {
namespace {

std::string content(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

ino_t inode(const std::string& path) {
  struct stat info{};
  EXPECT_EQ(::stat(path.c_str(), &info), 0);
  return info.st_ino;
}

constexpr const char* kService = R"({"metadata":{"name":"web","namespace":"default"},
    "spec":{"clusterIP":"10.96.0.7","selector":{"app":"web"},
    "ports":[{"port":80,"targetPort":"http"},{"port":81,"targetPort":8081}]}})";

PodBuilder web(const std::string& name) {
  return PodBuilder(name)
      .label("app", "web")
      .container("main", "serve",
                 R"({"ports":[{"name":"http","containerPort":8080}],
          "readinessProbe":{"tcpSocket":{"port":8080},"periodSeconds":1,"failureThreshold":1}})");
}

TEST_F(NodeTest, ServicesLeadToReadyPodsOnly) {
  cluster.put(api::services(), parse(kService));
  start();
  const auto client = create(PodBuilder("client").container("main", "serve"));
  create(web("w"));
  loop.run_for(2s);
  ASSERT_EQ(runtime.pods[client].rules.size(), 2U);
  EXPECT_EQ(runtime.pods[client].rules[0].cluster_ip, "10.96.0.7");
  EXPECT_TRUE(runtime.pods[client].rules[0].endpoints.empty()) << "nobody is ready";
  runtime.open_ports[8080] = true;
  loop.run_for(2s);
  const auto& rules = runtime.pods[client].rules;
  ASSERT_EQ(rules[0].endpoints.size(), 1U);
  EXPECT_EQ(rules[0].endpoints[0].address, (*pod("w"))["status"]["podIP"].as_string());
  EXPECT_EQ(rules[0].endpoints[0].port, 8080) << "by the port's name";
  EXPECT_EQ(rules[1].endpoints[0].port, 8081);
  cluster.request_deletion("default", "w", 0);
  loop.run_for(2s);
  EXPECT_TRUE(runtime.pods[client].rules[0].endpoints.empty());
}

TEST_F(NodeTest, RulesAreThereBeforeTheContainerStarts) {
  cluster.put(api::services(), parse(kService));
  start();
  const auto client = create(PodBuilder("client").container("main", "run 0 0"));
  loop.run_for(10ms);
  ASSERT_TRUE(runtime.did("start " + client + "/main/0"));
  EXPECT_EQ(runtime.pods[client].rules.size(), 2U);
}

TEST_F(NodeTest, APodFindsItsOwnNameFromTheStart) {
  start();
  create(PodBuilder("first").container("main", "serve"));
  loop.run_for(1s);
  const auto uid = create(PodBuilder("second").container("main", "serve"));
  while (!runtime.did("start " + uid + "/main/0")) ASSERT_TRUE(loop.step());
  const auto text = content(runtime.pods[uid].spec.hosts_file);
  EXPECT_NE(text.find("10.222.0.3\tsecond\n"), std::string::npos) << text;
}

TEST_F(NodeTest, HostsFileFollowsPodsAndServicesInPlace) {
  start();
  const auto uid = create(PodBuilder("a").container("main", "serve"));
  loop.run_for(1s);
  const auto path = runtime.pods[uid].spec.hosts_file;
  const auto before = inode(path);
  EXPECT_TRUE(content(path).starts_with("# Kubernetes-managed hosts file.\n"));
  EXPECT_NE(content(path).find("10.222.0.2\ta\n"), std::string::npos) << content(path);

  create(PodBuilder("b")
             .container("main", "serve")
             .spec("subdomain", "\"ring\"")
             .spec("hostname", "\"rank-1\""));
  cluster.put(api::services(), parse(kService));
  loop.run_for(1s);
  const auto text = content(path);
  EXPECT_NE(text.find("10.222.0.3\trank-1.ring.default.svc.cluster.local rank-1.ring.default.svc "
                      "rank-1.ring.default rank-1.ring b rank-1\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("10.96.0.7\tweb.default.svc.cluster.local web.default.svc web.default web\n"),
            std::string::npos)
      << text;
  cluster.request_deletion("default", "b", 0);
  loop.run_for(1s);
  EXPECT_EQ(content(path).find("rank-1"), std::string::npos);
  EXPECT_EQ(inode(path), before) << "containers have this file mounted";
}

// Names of the pods that a service with this selector takes.
std::vector<std::string> taken(SelectablePods& pods, const char* ns, const char* selector) {
  json::Value service(json::Object{{"metadata", json::Object{{"namespace", ns}}},
                                   {"spec", json::Object{{"selector", parse(selector)}}}});
  std::vector<std::string> names;
  for (const auto& peer : pods.selected_by(service)) names.push_back(api::name_of(*peer.pod));
  return names;
}

TEST(SelectablePods, HaveAllLabelsOfTheSelectorInItsNamespace) {
  const auto make = [](const char* name, const char* ns, const char* labels) {
    return Peer{.pod = std::make_shared<const json::Value>(json::Object{
                    {"metadata",
                     json::Object{{"name", name}, {"namespace", ns}, {"labels", parse(labels)}}}})};
  };
  const std::vector<Peer> pods{make("w1", "a", R"({"job":"x","rank":"1","more":"y"})"),
                               make("w0", "a", R"({"job":"x","rank":"0"})"),
                               make("w0", "b", R"({"job":"x","rank":"0"})"),
                               make("other", "a", R"({"job":"z"})")};
  using Names = std::vector<std::string>;
  SelectablePods selectable(pods);
  EXPECT_EQ(taken(selectable, "a", R"({"job":"x"})"), (Names{"w1", "w0"})) << "in their order";
  EXPECT_EQ(taken(selectable, "a", R"({"job":"x","rank":"0"})"), Names{"w0"});
  EXPECT_EQ(taken(selectable, "a", R"({"rank":"1","job":"x"})"), Names{"w1"});
  EXPECT_EQ(taken(selectable, "a", R"({"job":"z"})"), Names{"other"});
  EXPECT_EQ(taken(selectable, "a", R"({"job":"z","rank":"0"})"), Names{});
  EXPECT_EQ(taken(selectable, "a", R"({"rank":"x","job":"0"})"), Names{});
  EXPECT_EQ(taken(selectable, "b", R"({"job":"z"})"), Names{});
  EXPECT_EQ(taken(selectable, "a", "{}"), Names{}) << "endpoints of somebody else";
}

TEST(Hosts, AHeadlessServiceHasTheAddressesOfItsPods) {
  const auto make = [](const char* text) {
    auto pod = std::make_shared<const json::Value>(parse(text));
    auto reach = reach_of((*pod)["status"]);
    return Peer{.pod = std::move(pod), .reach = std::move(reach)};
  };
  const std::vector<Peer> pods{
      make(
          R"({"metadata":{"name":"x","namespace":"ns","labels":{"j":"1"}},"status":{"podIP":"10.0.0.1",
          "phase":"Running","conditions":[{"type":"Ready","status":"True"}]}})"),
      make(
          R"({"metadata":{"name":"y","namespace":"ns","labels":{"j":"1"}},"status":{"podIP":"10.0.0.2",
          "phase":"Running"}})"),
      make(R"({"metadata":{"name":"z","namespace":"other"},"status":{"podIP":"10.0.0.3"}})")};
  auto service = parse(R"({"metadata":{"name":"head","namespace":"ns"},
      "spec":{"clusterIP":"None","selector":{"j":"1"}}})");
  auto text = render_hosts("ns", pods, {std::make_shared<const json::Value>(service)}, "local");
  EXPECT_NE(text.find("10.0.0.1\thead.ns.svc.local"), std::string::npos) << text;
  EXPECT_EQ(text.find("10.0.0.2\thead"), std::string::npos) << "not ready";
  EXPECT_EQ(text.find("10.0.0.3"), std::string::npos) << "another namespace";
  service["spec"]["publishNotReadyAddresses"] = true;
  text = render_hosts("ns", pods, {std::make_shared<const json::Value>(service)}, "local");
  EXPECT_NE(text.find("10.0.0.2\thead.ns.svc.local"), std::string::npos);
}

TEST(Hosts, AShorterTextLeavesNoRest) {
  const TemporaryDirectory directory;
  const auto path = directory.path() + "/hosts";
  ASSERT_TRUE(rewrite_in_place(path, "a long first text\n").has_value());
  ASSERT_TRUE(rewrite_in_place(path, "short\n").has_value());
  EXPECT_EQ(content(path), "short\n");
}

}  // namespace
}  // namespace muster::node
