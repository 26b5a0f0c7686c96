#include "engine/children.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "builders.h"
#include "engine/decide.h"

namespace muster::engine {
namespace {

using namespace testing;
using api::PodPhase;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

ObjectView config_map(const std::string& name) {
  return {.resource = api::config_maps(), .name = name, .uid = "uid-config"};
}

std::vector<std::string> created_objects(const Decision& decision) {
  std::vector<std::string> names;
  for (const auto& action : actions<CreateObject>(decision)) names.push_back(action.name);
  return names;
}

PodView at(PodView view, const std::string& ip) {
  view.ip = ip;
  return view;
}

PodView going(PodView view) {
  view.deleting = true;
  return view;
}

plan::Placed text_at(const std::string& key, plan::Value value) {
  return {.path = {"metadata", "annotations", key}, .value = std::move(value)};
}

TEST(Children, AreFoundByResourceAndName) {
  const std::vector<ObjectView> objects = {service("bert"), config_map("bert"),
                                           service("bert-worker-0"), config_map("hosts")};
  const Children children(objects);
  EXPECT_EQ(children.object(api::services(), "bert"), &objects[0]);
  EXPECT_EQ(children.object(api::config_maps(), "bert"), &objects[1]);
  EXPECT_EQ(children.object(api::services(), "bert-worker-0"), &objects[2]);
  EXPECT_EQ(children.object(api::config_maps(), "hosts"), &objects[3]);
  EXPECT_EQ(children.object(api::services(), "hosts"), nullptr);
  EXPECT_EQ(children.object(api::services(), "ber"), nullptr);
  EXPECT_EQ(children.object(api::pods(), "bert"), nullptr);
  EXPECT_EQ(Children({}).object(api::services(), "bert"), nullptr);
}

// What a text that asks for an address becomes, while the world is as it is.
struct AddressCase {
  std::string name;
  plan::Value value;
  std::vector<ObjectView> objects;
  std::vector<PodView> pods;
  std::optional<std::string> text;
};

plan::Value of_the_service() {
  return {"tcp://", plan::ServiceIp{"bert"}, ":8080"};
}

std::vector<AddressCase> address_cases() {
  const plan::Value of_service = of_the_service();
  const plan::Value of_pod = {plan::PodIp{"Worker", 1}, "/32"};
  const PodView running = at(pod("Worker", 1, PodPhase::Running), "10.0.0.1");
  const PodView other = at(pod("Worker", 0, PodPhase::Running), "10.0.0.9");
  return {
      {"no address in it", {"rank ", plan::Ordinal{.base = 1}}, {}, {}, "rank 1"},
      {"a Service", of_service, {service("bert", "10.96.0.7")}, {}, "tcp://10.96.0.7:8080"},
      {"no Service", of_service, {}, {}, {}},
      {"another Service", of_service, {service("bart", "10.96.0.7")}, {}, {}},
      {"a Service without an address", of_service, {service("bert", "")}, {}, {}},
      {"something else of its name", of_service, {config_map("bert")}, {}, {}},
      {"a pod", of_pod, {}, {other, running}, "10.0.0.1/32"},
      {"no pod", of_pod, {}, {other}, {}},
      {"a pod without an address", of_pod, {}, {pod("Worker", 1, PodPhase::Running)}, {}},
      {"a pod that has its address before it runs",
       of_pod,
       {},
       {at(pod("Worker", 1, PodPhase::Pending), "10.0.0.1")},
       "10.0.0.1/32"},
      {"a pod that goes", of_pod, {}, {going(running)}, {}},
      {"two pods for one rank", of_pod, {}, {running, running}, {}},
      {"an index that is not planned",
       {plan::PodIp{"Worker", 2}},
       {},
       {at(pod("Worker", 2, PodPhase::Running), "10.0.0.3")},
       {}},
      {"a role that is not planned",
       {plan::PodIp{"PS", 0}},
       {},
       {at(pod("PS", 0, PodPhase::Running), "10.0.0.3")},
       {}},
      {"one of two", {plan::PodIp{"Worker", 0}, plan::PodIp{"Worker", 1}}, {}, {other}, {}},
  };
}

TEST(Addresses, AreKnownOnceTheirOwnersHaveThem) {
  for (const AddressCase& c : address_cases()) {
    auto plan = JobBuilder().workers(2).build();
    plan.roles[0].values = {text_at("where", c.value)};
    const auto known = known_addresses(plan, Children(c.objects), Census(plan, c.pods, {}));
    EXPECT_EQ(plan::resolve(c.value, 0, *known), c.text) << c.name;
    EXPECT_EQ(resolves(plan.roles[0].values, *known), c.text.has_value()) << c.name;
  }
}

TEST(Addresses, ThatObjectsAskForAreKnownToo) {
  for (const AddressCase& c : address_cases()) {
    auto plan = JobBuilder().workers(2).build();
    plan.objects.push_back(
        {.id = {api::config_maps(), "hosts"}, .values = {text_at("where", c.value)}});
    const auto known = known_addresses(plan, Children(c.objects), Census(plan, c.pods, {}));
    EXPECT_EQ(plan::resolve(c.value, 0, *known), c.text) << c.name;
  }
}

TEST(Addresses, OneThatIsMissingHoldsTheWholeChildBack) {
  auto plan = JobBuilder().workers(1).build();
  plan.roles[0].values = {text_at("a", of_the_service()), text_at("b", {plan::ServiceIp{"later"}})};
  const Census census(plan, {}, {});
  std::vector<ObjectView> objects = {service("bert")};
  EXPECT_FALSE(resolves(plan.roles[0].values, *known_addresses(plan, Children(objects), census)));
  objects.push_back(service("later"));
  EXPECT_TRUE(resolves(plan.roles[0].values, *known_addresses(plan, Children(objects), census)));
  EXPECT_TRUE(resolves({}, *known_addresses(plan, Children({}), census)));
}

// A Service, the Scheduler behind it, a map of where that is, and Workers that read the map.
plan::Plan chain() {
  auto plan = JobBuilder().scheduler().workers(2).build();
  plan.objects.push_back(
      {.id = {api::config_maps(), "hosts"},
       .values = {{.path = {"data", "scheduler"}, .value = {plan::PodIp{"Scheduler", 0}}}}});
  plan.roles[1].after.push_back({api::config_maps(), "hosts"});
  return plan;
}

TEST(Order, EachChildIsMadeOnceWhatItNeedsIsThere) {
  const plan::Plan plan = chain();
  Observed observed = begun();
  Decision decision = decide(plan, observed, kStart);
  EXPECT_THAT(created_objects(decision), ElementsAre("bert-scheduler-0"));
  EXPECT_THAT(created_pods(decision), IsEmpty());

  observed.objects = {service()};
  decision = decide(plan, observed, kStart);
  EXPECT_THAT(created_objects(decision), IsEmpty());
  EXPECT_THAT(created_pods(decision), ElementsAre("bert-scheduler-0"));

  observed.pods = {at(pod("Scheduler", 0, PodPhase::Running), "10.0.0.1")};
  decision = decide(plan, observed, kStart);
  ASSERT_THAT(created_objects(decision), ElementsAre("hosts"));
  EXPECT_THAT(created_pods(decision), IsEmpty());
  EXPECT_EQ(make_object(plan, actions<CreateObject>(decision)[0])["data"]["scheduler"].as_string(),
            "10.0.0.1");

  observed.objects.push_back(config_map("hosts"));
  decision = decide(plan, observed, kStart);
  EXPECT_THAT(created_objects(decision), IsEmpty());
  EXPECT_THAT(created_pods(decision), ElementsAre("bert-worker-0", "bert-worker-1"));
}

TEST(Order, ObjectsComeBeforePodsInAWave) {
  const auto plan = JobBuilder().workers(1).service_for_each_worker().build();
  const Decision decision = decide(plan, begun(), kStart);
  ASSERT_EQ(decision.wave.size(), 2U);
  EXPECT_TRUE(std::holds_alternative<CreateObject>(decision.wave[0]));
  EXPECT_TRUE(std::holds_alternative<CreatePod>(decision.wave[1]));
}

TEST(Copies, AreOneOrAsManyAsRanks) {
  const auto plan = JobBuilder().role("PS", "ps", 0).workers(3).build();
  for (const auto& [role, number] :
       {std::pair("", 1), std::pair("Worker", 3), std::pair("PS", 0), std::pair("Launcher", 0)}) {
    EXPECT_EQ(copies(plan, {.id = {api::services(), "bert"}, .each_rank_of = role}), number)
        << role;
  }
}

TEST(ObjectName, IsItsOwnOrThatOfTheRanksPodNow) {
  auto plan = JobBuilder().workers(2).build();
  const plan::Object alone{.id = {api::services(), "bert"}};
  const plan::Object each{.id = {api::services(), ""}, .each_rank_of = "Worker"};
  plan::Ledger ledger;
  EXPECT_EQ(object_name(plan, alone, 1, ledger), "bert");
  EXPECT_EQ(object_name(plan, each, 1, ledger), "bert-worker-1");
  plan.roles[0].pod_name.attempt = true;
  EXPECT_EQ(object_name(plan, each, 1, ledger), "bert-worker-1-0");
  ledger.roles["Worker"].attempts.set(1, 2);
  EXPECT_EQ(object_name(plan, each, 1, ledger), "bert-worker-1-2");
  EXPECT_EQ(object_name(plan, each, 0, ledger), "bert-worker-0-0");
}

CreatePod third_worker(const plan::Plan& plan) {
  return {.name = "bert-worker-2",
          .role = plan.role("Worker"),
          .index = 2,
          .attempt = 4,
          .epoch = 5,
          .addresses = known_addresses(plan, Children({}), Census(plan, {}, {}))};
}

json::Value our_owner_references() {
  return json::Array{json::Object{{"apiVersion", "mindspore.gitee.com/v1"},
                                  {"kind", "MSJob"},
                                  {"name", "bert"},
                                  {"uid", "job-uid"},
                                  {"controller", true},
                                  {"blockOwnerDeletion", true}}};
}

TEST(MakePod, SaysWhoseItIsAndWhichRankItHolds) {
  const auto plan = JobBuilder().workers(3).build();
  const json::Value made = make_pod(plan, third_worker(plan));
  EXPECT_EQ(made["apiVersion"].as_string(), "v1");
  EXPECT_EQ(made["kind"].as_string(), "Pod");
  EXPECT_EQ(made["metadata"]["name"].as_string(), "bert-worker-2");
  EXPECT_EQ(made["metadata"]["namespace"].as_string(), "ml");
  EXPECT_EQ(made["metadata"]["ownerReferences"], our_owner_references());
  EXPECT_EQ(made["metadata"]["labels"], json::Value(json::Object{{"muster.dev/job-uid", "job-uid"},
                                                                 {"muster.dev/role", "Worker"},
                                                                 {"muster.dev/index", "2"},
                                                                 {"muster.dev/attempt", "4"},
                                                                 {"muster.dev/epoch", "5"}}));
  EXPECT_EQ(made["spec"], plan.roles[0].pod["spec"]);
}

TEST(MakePod, IsReadBackAsTheRankItWasMadeFor) {
  const auto plan = JobBuilder().workers(3).build();
  const PodView view = PodView::from(make_pod(plan, third_worker(plan)));
  EXPECT_EQ(view.role, "Worker");
  EXPECT_EQ(view.index, 2);
  EXPECT_EQ(view.attempt, 4);
  EXPECT_EQ(view.epoch, 5);
}

TEST(MakePod, KeepsWhatTheUserWroteExceptWhatIsOurs) {
  auto plan = JobBuilder().workers(3).build();
  json::Value& metadata = plan.roles[0].pod["metadata"];
  metadata["name"] = "mine";
  metadata["namespace"] = "elsewhere";
  metadata["annotations"]["team"] = "nlp";
  metadata["labels"] = json::Object{{"team", "nlp"}, {"muster.dev/index", "9"}};
  metadata["ownerReferences"] = json::Array{json::Object{{"kind", "Deployment"}}};
  plan.roles[0].pod["spec"]["futureField"] = 7;
  plan.roles[0].pod["status"] = json::Object{{"phase", "Succeeded"}};
  const plan::Plan before = plan;
  const json::Value made = make_pod(plan, third_worker(plan));
  EXPECT_EQ(made["metadata"]["name"].as_string(), "bert-worker-2");
  EXPECT_EQ(made["metadata"]["namespace"].as_string(), "ml");
  EXPECT_EQ(made["metadata"]["annotations"]["team"].as_string(), "nlp");
  EXPECT_EQ(made["metadata"]["labels"]["team"].as_string(), "nlp");
  EXPECT_EQ(made["metadata"]["labels"]["muster.dev/index"].as_string(), "2");
  EXPECT_EQ(made["metadata"]["ownerReferences"], our_owner_references());
  EXPECT_EQ(made["spec"]["futureField"].as_int(), 7);
  EXPECT_TRUE(made["status"].is_null());
  EXPECT_EQ(plan.roles[0].pod, before.roles[0].pod) << "the next rank begins from the same";
}

TEST(MakePod, OfAGangNamesTheRunsGangAndItsSize) {
  auto plan = JobBuilder().workers(3).build();
  plan.gang = plan::Gang{.minimum = 2};
  const json::Value labels = make_pod(plan, third_worker(plan))["metadata"]["labels"];
  EXPECT_EQ(labels["muster.dev/gang"].as_string(), "job-uid-5");
  EXPECT_EQ(labels["muster.dev/gang-size"].as_string(), "2");
}

TEST(MakePod, HasItsOwnNumberAndTheAddressesOfOthers) {
  auto plan = JobBuilder().workers(3).build();
  plan.roles[0].values = {
      {.path = {"spec", "containers", std::size_t{0}, "image"},
       .value = {"rank-", plan::Ordinal{.base = 1}, "-of-", plan::ServiceIp{"bert"}}}};
  const std::vector<ObjectView> objects = {service("bert", "10.96.0.7")};
  CreatePod action = third_worker(plan);
  action.addresses = known_addresses(plan, Children(objects), Census(plan, {}, {}));
  const json::Value made = make_pod(plan, action);
  EXPECT_EQ(made["spec"]["containers"][0]["image"].as_string(), "rank-3-of-10.96.0.7");
}

TEST(MakeObject, KeepsItsBodyAndIsNoRank) {
  auto plan = JobBuilder().workers(2).service_for_each_worker().build();
  plan.objects[0].body = json::Object{
      {"kind", "Service"},
      {"metadata", json::Object{{"name", "mine"}, {"labels", json::Object{{"team", "nlp"}}}}},
      {"spec", json::Object{{"clusterIP", "None"}}}};
  const json::Value made =
      make_object(plan, {.name = "bert-worker-1",
                         .object = plan.objects.data(),
                         .index = 1,
                         .addresses = known_addresses(plan, Children({}), Census(plan, {}, {}))});
  EXPECT_EQ(made["kind"].as_string(), "Service");
  EXPECT_EQ(made["spec"]["clusterIP"].as_string(), "None");
  EXPECT_EQ(made["metadata"]["name"].as_string(), "bert-worker-1");
  EXPECT_EQ(made["metadata"]["namespace"].as_string(), "ml");
  EXPECT_EQ(made["metadata"]["ownerReferences"], our_owner_references());
  EXPECT_EQ(made["metadata"]["labels"],
            json::Value(
                json::Object{{"team", "nlp"}, {"muster.dev/job-uid", "job-uid"}, {"task", "t2"}}));
}

}  // namespace
}  // namespace muster::engine
