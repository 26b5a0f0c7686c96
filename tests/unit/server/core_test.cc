#include <set>

#include "support.h"

namespace muster::server {
namespace {

using CoreTest = ServerTest;

std::string rv(const json::Value& object) {
  return api::resource_version_of(object);
}

TEST_F(CoreTest, HasWhatEveryClusterHas) {
  for (const char* ns : {"default", "kube-system", "kube-public", "kube-node-lease"}) {
    EXPECT_TRUE(exists(api::namespaces(), ns)) << ns;
    EXPECT_TRUE(exists(api::service_accounts(), "default", ns)) << ns;
  }
  EXPECT_EQ((**get(api::services(), "kubernetes"))["spec"]["clusterIP"].as_string(), "10.96.0.1");
}

TEST_F(CoreTest, CreateFillsInSystemMetadata) {
  json::Value asked = pod("a");
  asked["metadata"]["uid"] = "mine";
  asked["metadata"]["creationTimestamp"] = nullptr;
  const json::Value made = make(api::pods(), asked);
  EXPECT_EQ(api::uid_of(made).size(), 36U);
  EXPECT_EQ(api::generation_of(made), 1);
  EXPECT_EQ(made["metadata"]["creationTimestamp"].as_string(), format_time(loop_.now()));
  EXPECT_GT(std::stoll(rv(made)), 0);
  EXPECT_EQ(api::kind_of(made), "Pod");
  EXPECT_EQ(api::api_version_of(made), "v1");
}

TEST_F(CoreTest, PodGetsTheDefaultsOfTheRealServer) {
  const json::Value made =
      make(api::pods(), parse(R"({"metadata":{"name":"p","namespace":"default"},
    "spec":{"containers":[{"name":"c","image":"registry:5000/x","ports":[{"containerPort":1}],
      "readinessProbe":{"tcpSocket":{"port":1}}}],
      "volumes":[{"name":"v","configMap":{"name":"m"}}]}})"));
  const json::Value& spec = made["spec"];
  EXPECT_EQ(spec["restartPolicy"].as_string(), "Always");
  EXPECT_EQ(spec["terminationGracePeriodSeconds"].as_int(), 30);
  EXPECT_EQ(spec["dnsPolicy"].as_string(), "ClusterFirst");
  EXPECT_EQ(spec["serviceAccountName"].as_string(), "default");
  EXPECT_EQ(spec["serviceAccount"].as_string(), "default");
  EXPECT_TRUE(spec["securityContext"].is_object());
  EXPECT_EQ(spec["schedulerName"].as_string(), "default-scheduler");
  EXPECT_EQ(spec["tolerations"].as_array().size(), 2U);
  EXPECT_EQ(spec["priority"].as_int(-1), 0);
  EXPECT_EQ(spec["preemptionPolicy"].as_string(), "PreemptLowerPriority");
  EXPECT_TRUE(spec["enableServiceLinks"].as_bool());
  const json::Value& container = spec["containers"][0];
  EXPECT_TRUE(container["resources"].is_object());
  EXPECT_EQ(container["imagePullPolicy"].as_string(), "Always");
  EXPECT_EQ(container["terminationMessagePath"].as_string(), "/dev/termination-log");
  EXPECT_EQ(container["terminationMessagePolicy"].as_string(), "File");
  EXPECT_EQ(container["ports"][0]["protocol"].as_string(), "TCP");
  EXPECT_EQ(container["readinessProbe"]["periodSeconds"].as_int(), 10);
  EXPECT_EQ(spec["volumes"][0]["configMap"]["defaultMode"].as_int(), 420);
  EXPECT_EQ(made["status"]["phase"].as_string(), "Pending");
  EXPECT_EQ(made["status"]["qosClass"].as_string(), "BestEffort");
}

TEST_F(CoreTest, QualityOfServiceFollowsTheResources) {
  json::Value guaranteed = pod("g");
  guaranteed["spec"]["containers"].array()[0]["resources"] =
      parse(R"({"limits":{"cpu":"1","memory":"1Gi"}})");
  EXPECT_EQ(make(api::pods(), guaranteed)["status"]["qosClass"].as_string(), "Guaranteed");
  json::Value burstable = pod("b");
  burstable["spec"]["containers"].array()[0]["resources"] = parse(R"({"requests":{"cpu":"1"}})");
  EXPECT_EQ(make(api::pods(), burstable)["status"]["qosClass"].as_string(), "Burstable");
}

TEST_F(CoreTest, GenerateNameMakesDifferentNames) {
  std::set<std::string> seen;
  for (int i = 0; i < 50; ++i) {
    json::Value asked = config_map("");
    asked["metadata"]["generateName"] = "run-";
    const json::Value made = make(api::config_maps(), asked);
    EXPECT_EQ(api::name_of(made).size(), 9U);
    EXPECT_TRUE(api::name_of(made).starts_with("run-"));
    seen.insert(api::name_of(made));
  }
  EXPECT_EQ(seen.size(), 50U);
}

TEST_F(CoreTest, CreateRefusals) {
  make(api::pods(), pod("a"));
  const auto again = create(api::pods(), pod("a"));
  EXPECT_EQ(again.error().code, ErrorCode::AlreadyExists);
  EXPECT_EQ(again.error().message, "pods \"a\" already exists");

  json::Value elsewhere = pod("b");
  elsewhere["metadata"]["namespace"] = "nowhere";
  EXPECT_EQ(create(api::pods(), elsewhere).error().message, "namespaces \"nowhere\" not found");

  json::Value versioned = pod("c");
  versioned["metadata"]["resourceVersion"] = "4";
  EXPECT_EQ(create(api::pods(), versioned).error().code, ErrorCode::BadRequest);

  json::Value other = pod("d");
  other["kind"] = "Service";
  EXPECT_EQ(create(api::pods(), other).error().code, ErrorCode::BadRequest);

  json::Value account = pod("e");
  account["spec"]["serviceAccountName"] = "robot";
  EXPECT_EQ(create(api::pods(), account).error().code, ErrorCode::Forbidden);

  json::Value big = config_map("f", std::string(2U << 20U, 'x'));
  EXPECT_EQ(create(api::config_maps(), big).error().code, ErrorCode::TooLarge);

  for (const char* text : {R"(7)", R"({"metadata":"x"})", R"({"metadata":{"name":1}})",
                           R"({"metadata":{"name":"x","finalizers":{}}})"}) {
    EXPECT_EQ(create(api::pods(), parse(text)).error().code, ErrorCode::BadRequest) << text;
  }
}

TEST_F(CoreTest, ARefusedJobIsNotStored) {
  const auto refused = create(widgets(), widget("w", 0));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::Invalid);
  EXPECT_EQ(refused.error().causes.at(0).field, "spec.size");
  EXPECT_NE(refused.error().message.find("Widget \"w\" is invalid: spec.size"), std::string::npos);
  EXPECT_FALSE(exists(widgets(), "w"));
}

TEST_F(CoreTest, UnknownFieldsSurvive) {
  json::Value asked = widget("w");
  asked["spec"]["novelty"]["deep"] = json::Array{1, nullptr, "x"};
  const json::Value made = make(widgets(), asked);
  EXPECT_EQ(made["spec"]["novelty"], asked["spec"]["novelty"]);
}

TEST_F(CoreTest, UpdateIsConditional) {
  const json::Value first = make(api::config_maps(), config_map("c"));
  json::Value second = first;
  second["data"]["key"] = "2";
  const auto updated = update(api::config_maps(), second);
  ASSERT_TRUE(updated) << updated.error().message;
  EXPECT_LT(std::stoll(rv(first)), std::stoll(rv(**updated)));

  const auto stale = update(api::config_maps(), second);
  EXPECT_EQ(stale.error().code, ErrorCode::Conflict);
  EXPECT_TRUE(
      stale.error().message.starts_with("Operation cannot be fulfilled on configmaps \"c\": "));

  json::Value other = **updated;
  other["metadata"]["uid"] = "00000000-0000-4000-8000-000000000000";
  EXPECT_EQ(update(api::config_maps(), other).error().code, ErrorCode::Conflict);

  json::Value unconditional = config_map("c", "3");
  EXPECT_EQ((**update(api::config_maps(), unconditional))["data"]["key"].as_string(), "3");
  make(widgets(), widget("w"));
  EXPECT_EQ(update(widgets(), widget("w", 2)).error().code, ErrorCode::Invalid);
  EXPECT_EQ(update(api::config_maps(), config_map("none")).error().code, ErrorCode::NotFound);
}

TEST_F(CoreTest, AWriteThatChangesNothingKeepsItsVersion) {
  const json::Value made = make(widgets(), widget("w"));
  json::Value same = made;
  same["metadata"]["labels"] = nullptr;
  same["metadata"]["generation"] = 99;
  same["metadata"]["creationTimestamp"] = "2001-01-01T00:00:00Z";
  EXPECT_EQ(rv(**update(widgets(), same)), rv(made));
  EXPECT_EQ(rv(**update_status(widgets(), made)), rv(made));
}

TEST_F(CoreTest, GenerationMovesWithTheSpecOnly) {
  json::Value made = make(widgets(), widget("w"));
  made["metadata"]["labels"]["a"] = "b";
  made = **update(widgets(), made);
  EXPECT_EQ(api::generation_of(made), 1);
  made["status"]["phase"] = "Running";
  made = **update_status(widgets(), made);
  EXPECT_EQ(api::generation_of(made), 1);
  made["spec"]["size"] = 2;
  made = **update(widgets(), made);
  EXPECT_EQ(api::generation_of(made), 2);
}

TEST_F(CoreTest, MainAndStatusAreApart) {
  json::Value asked = widget("w");
  asked["status"]["phase"] = "Done";
  json::Value made = make(widgets(), asked);
  EXPECT_TRUE(made["status"].is_null());

  json::Value by_main = made;
  by_main["spec"]["size"] = 2;
  by_main["status"]["phase"] = "Done";
  made = **update(widgets(), by_main);
  EXPECT_EQ(made["spec"]["size"].as_int(), 2);
  EXPECT_TRUE(made["status"].is_null());

  json::Value by_status = made;
  by_status["spec"]["size"] = 3;
  by_status["metadata"]["labels"]["a"] = "b";
  by_status["status"]["phase"] = "Running";
  made = **update_status(widgets(), by_status);
  EXPECT_EQ(made["spec"]["size"].as_int(), 2);
  EXPECT_TRUE(made["metadata"]["labels"].is_null());
  EXPECT_EQ(made["status"]["phase"].as_string(), "Running");
  EXPECT_EQ(update_status(api::config_maps(), config_map("c")).error().code, ErrorCode::NotFound);
}

TEST_F(CoreTest, AnEditThatMakesAJobInvalidIsRefused) {
  json::Value made = make(widgets(), widget("w"));
  made["spec"]["size"] = -1;
  EXPECT_EQ(update(widgets(), made).error().code, ErrorCode::Invalid);
}

TEST_F(CoreTest, PodSpecStandsButForItsImages) {
  json::Value made = make(api::pods(), pod("a"));
  json::Value image = made;
  image["spec"]["containers"].array()[0]["image"] = "i:2";
  EXPECT_EQ(api::generation_of(**update(api::pods(), image)), 2);
  json::Value command = **get(api::pods(), "a");
  command["spec"]["containers"].array()[0]["command"] = json::Array{"true"};
  const auto refused = update(api::pods(), command);
  EXPECT_EQ(refused.error().code, ErrorCode::Invalid);
  EXPECT_EQ(refused.error().causes.at(0).reason, "FieldValueForbidden");
}

TEST_F(CoreTest, StatusOfAPodKeepsItsQuality) {
  json::Value made = make(api::pods(), pod("a"));
  made["status"] = parse(R"({"phase":"Running"})");
  EXPECT_EQ((**update_status(api::pods(), made))["status"]["qosClass"].as_string(), "BestEffort");
}

TEST_F(CoreTest, BindingHappensOnce) {
  const json::Value made = make(api::pods(), pod("a"));
  const ObjectKey key{.ns = "default", .name = "a"};
  EXPECT_EQ(loop_.run(core().bind(key, "other", "n1")).error().code, ErrorCode::Conflict);
  EXPECT_TRUE(loop_.run(core().bind(key, api::uid_of(made), "n1")));
  EXPECT_EQ((**get(api::pods(), "a"))["spec"]["nodeName"].as_string(), "n1");
  EXPECT_EQ((**get(api::pods(), "a"))["status"]["conditions"][0]["type"].as_string(),
            "PodScheduled");
  EXPECT_EQ(loop_.run(core().bind(key, api::uid_of(made), "n2")).error().code, ErrorCode::Conflict);
}

TEST_F(CoreTest, NodesKeepTheStatusTheyRegisterWith) {
  const json::Value made =
      make(api::nodes(), parse(R"({"metadata":{"name":"n"},"status":{"capacity":{"cpu":"4"}}})"));
  EXPECT_EQ(made["status"]["capacity"]["cpu"].as_string(), "4");
}

TEST_F(CoreTest, SecretsFoldStringData) {
  const json::Value made =
      make(api::secrets(), parse(R"({"metadata":{"name":"s","namespace":"default"},
    "stringData":{"a":"hello"}})"));
  EXPECT_EQ(made["data"]["a"].as_string(), "aGVsbG8=");
  EXPECT_TRUE(made["stringData"].is_null());
  EXPECT_EQ(made["type"].as_string(), "Opaque");
}

TEST_F(CoreTest, ClusterAddressesAreUniqueAndStay) {
  const auto service = [](std::string_view name) {
    json::Value made = parse(R"({"spec":{"ports":[{"port":80}]}})");
    made["metadata"]["name"] = name;
    made["metadata"]["namespace"] = "default";
    return made;
  };
  const json::Value a = make(api::services(), service("a"));
  const json::Value b = make(api::services(), service("b"));
  const std::string address = a["spec"]["clusterIP"].as_string();
  EXPECT_TRUE(address.starts_with("10.96.0."));
  EXPECT_NE(address, b["spec"]["clusterIP"].as_string());
  EXPECT_EQ(a["spec"]["ports"][0]["targetPort"].as_int(), 80);

  json::Value edited = service("a");
  edited["spec"]["selector"]["x"] = "y";
  EXPECT_EQ((**update(api::services(), edited))["spec"]["clusterIP"].as_string(), address);
  edited["spec"]["clusterIP"] = "10.96.0.77";
  EXPECT_EQ(update(api::services(), edited).error().code, ErrorCode::Invalid);

  json::Value taken = service("c");
  taken["spec"]["clusterIP"] = address;
  EXPECT_EQ(create(api::services(), taken).error().code, ErrorCode::Invalid);
  EXPECT_TRUE(remove(api::services(), "a"));
  EXPECT_TRUE(create(api::services(), taken)) << "a freed address can be asked for";

  json::Value headless = service("h");
  headless["spec"]["clusterIP"] = "None";
  EXPECT_EQ(make(api::services(), headless)["spec"]["clusterIP"].as_string(), "None");
}

TEST_F(CoreTest, DryRunStoresNothing) {
  const auto before = list(api::pods())->resource_version;
  EXPECT_TRUE(loop_.run(core().create(kind(api::pods()), pod("a"), Mode::DryRun)));
  EXPECT_FALSE(exists(api::pods(), "a"));
  EXPECT_EQ(list(api::pods())->resource_version, before);
}

TEST_F(CoreTest, TokensAreBoundToLivingPods) {
  const json::Value made = make(api::pods(), pod("a"));
  const ObjectKey account{.ns = "default", .name = "default"};
  const auto token = loop_.run(core().create_token(
      account, {.expiration_seconds = 3600, .pod_name = "a", .pod_uid = api::uid_of(made)}));
  ASSERT_TRUE(token);
  EXPECT_GE(token->value.size(), 64U);
  EXPECT_EQ(token->expires, format_time(loop_.now() + std::chrono::hours(1)));
  const auto lasting = loop_.run(core().create_token(
      account, {.expiration_seconds = std::numeric_limits<std::int64_t>::max()}));
  ASSERT_TRUE(lasting);
  EXPECT_GT(parse_time(lasting->expires).value(), loop_.now() + std::chrono::years(90))
      << "longer than time can say, but not past";
  EXPECT_EQ(
      loop_.run(core().create_token(account, {.pod_name = "a", .pod_uid = "other"})).error().code,
      ErrorCode::Conflict);
  EXPECT_EQ(loop_.run(core().create_token({.ns = "default", .name = "x"}, {})).error().code,
            ErrorCode::NotFound);
}

TEST_F(CoreTest, EventsExpireAfterAnHour) {
  make(api::events(), parse(R"({"metadata":{"name":"e","namespace":"default"},
    "involvedObject":{"kind":"Pod","name":"a"},"reason":"Started"})"));
  loop_.run_for(std::chrono::minutes(59));
  EXPECT_TRUE(exists(api::events(), "e"));
  loop_.run_for(std::chrono::minutes(3));
  EXPECT_FALSE(exists(api::events(), "e"));
}

}  // namespace
}  // namespace muster::server
