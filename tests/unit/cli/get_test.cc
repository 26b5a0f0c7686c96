#include "api/object.h"
#include "cli/verbs/verbs.h"
#include "json/read.h"
#include "rt/scope.h"
#include "verb_fixture.h"

namespace muster::cli {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;
using ::testing::Not;

json::Value running() {
  return json::Object{{"running", json::Object{}}};
}

class Get : public VerbTest {
 protected:
  Outcome get_it(GetOptions options) {
    return outcome([&](Context& context) { return get(context, options); });
  }
  const ToyKind& toy_ = kind("Toy", "toy.dev");
};

TEST_F(Get, ReadsEveryPage) {
  create(toy_, "bert", json::Object{{"state", "GOING"}});
  const auto add = [](cluster::Cluster& cluster, json::Value pod) -> Task<void> {
    const auto created = co_await cluster.create(api::pods(), pod);
    EXPECT_TRUE(created);
    json::Value with_status = **created;
    with_status["status"] = std::as_const(pod)["status"];
    EXPECT_TRUE(co_await cluster.update_status(api::pods(), std::move(with_status)));
  };
  rt::TaskScope all(loop());  // together: they share commits; more than one page of 500
  json::Value next = rank(toy_, "bert", 0);
  for (int i = 0; i < 600; ++i) {
    next["metadata"]["name"] = fmt::format("bert-rank-{}", i);
    all.spawn(add(cluster(), next));
  }
  loop().run(all.join());
  const Outcome pods = get_it({.words = {"pods"}, .output = "name"});
  EXPECT_EQ(std::ranges::count(pods.out, '\n'), 600);
  EXPECT_THAT(get_it({}).out, ContainsRegex("bert +Toy +Running +4/4"));
  const Outcome described =
      outcome([](Context& context) { return describe(context, {.words = {"bert"}}); });
  EXPECT_THAT(described.out, HasSubstr("bert-rank-599"));
  const Outcome gone = outcome([](Context& context) {
    return remove(context, {.words = {"pods"}, .all = true, .wait = false});
  });
  EXPECT_EQ(std::ranges::count(gone.out, '\n'), 600);
}

TEST_F(Get, SaysWhyAJobWaits) {
  create(toy_, "bert");
  create(toy_, "gpt", json::Object{{"state", "GOING"}});
  json::Value placeless = rank(toy_, "bert", 0, {});
  placeless["status"]["phase"] = "Pending";
  placeless["status"]["conditions"] =
      json::Array{json::Object{{"type", "PodScheduled"},
                               {"status", "False"},
                               {"reason", "Unschedulable"},
                               {"message", "4 of nvidia.com/gpu are asked for, 0 are there"}}};
  create(api::pods(), placeless);
  create(api::pods(),
         rank(toy_, "gpt", 0,
              json::Object{{"waiting", json::Object{{"reason", "CrashLoopBackOff"}}}}));
  const Outcome seen = get_it({});
  EXPECT_THAT(seen.out, ContainsRegex("bert +Toy +Pending +0/4"));
  EXPECT_THAT(seen.out, ContainsRegex("gpt +Toy +CrashLoopBackOff +0/4"));
  EXPECT_THAT(seen.err, HasSubstr("bert waits: Unschedulable (1 pod): 4 of nvidia.com/gpu are "
                                  "asked for, 0 are there. To go on: others have to end"));
  EXPECT_THAT(seen.err, HasSubstr("gpt waits: CrashLoopBackOff (1 pod): "));
  EXPECT_THAT(get_it({.output = "name"}).err, IsEmpty()) << "only people are told";
  const Outcome described =
      outcome([](Context& context) { return describe(context, {.words = {"bert"}}); });
  EXPECT_THAT(described.out, HasSubstr("Waiting:     Unschedulable, 1 of its pods\n"
                                       "             4 of nvidia.com/gpu are asked for"));
}

TEST_F(Get, SortsAndLeavesOutHeaders) {
  for (const char* name : {"b", "a", "c"}) create(api::pods(), pod(name, running()));
  EXPECT_THAT(
      get_it({.words = {"pods"}, .sort_by = ".metadata.creationTimestamp", .headers = false}).out,
      MatchesRegex("[abc] +1/1 .*\n[abc] +1/1.*\n[abc] +1/1.*\n"));
  EXPECT_EQ(get_it({.words = {"pods"}, .output = "name", .sort_by = "{.metadata.name}"}).out,
            "pods/a\npods/b\npods/c\n");
  const Outcome wrong = get_it({.words = {"pods"}, .sort_by = ".nmae"});
  EXPECT_THAT(wrong.err, HasSubstr("no object has that"));
  EXPECT_EQ(wrong.code, 1);
}

TEST_F(Get, PrintsWhatIsAskedFor) {
  create(api::pods(), pod("a", running()));
  create(api::pods(), pod("b"));
  const auto printed = [&](std::string output, std::vector<std::string> names) {
    names.insert(names.begin(), "pods");
    return get_it({.words = names, .output = output}).out;
  };
  EXPECT_EQ(printed("jsonpath={.items[*].metadata.name}", {}), "a b");
  EXPECT_EQ(printed("jsonpath={.metadata.name}", {"a"}), "a");
  EXPECT_EQ(printed("jsonpath={range .items[*]}{.metadata.name}{\"\\n\"}{end}", {}), "a\nb\n");
  EXPECT_EQ(printed("custom-columns=POD:.metadata.name,PHASE:.status.phase,IP:.status.podIP", {}),
            "POD   PHASE     IP\na     Running   <none>\nb     Pending   <none>\n");
  EXPECT_EQ((*json::read(printed("json", {"a"})))["kind"].as_string(), "Pod");
  EXPECT_EQ((*json::read(printed("json", {})))["items"].as_array().size(), 2U);
  EXPECT_EQ((*json::read(printed("json", {"a", "b"})))["items"].as_array().size(), 2U);
  EXPECT_THAT(printed("yaml", {"b"}), HasSubstr("kind: Pod\n"));
  const Outcome wrong = get_it({.output = "xml"});
  EXPECT_EQ(wrong.code, 2);
  EXPECT_THAT(wrong.err, HasSubstr("\"xml\" is no format; use json"));
}

TEST_F(Get, NothingIsSaidOnStandardErrorAndIsAnEmptyList) {
  const Outcome table = get_it({});
  EXPECT_EQ(table.code, 0);
  EXPECT_THAT(table.out, IsEmpty());
  EXPECT_EQ(table.err, "No resources found in default namespace.\n");
  EXPECT_EQ((*json::read(get_it({.output = "json"}).out))["items"].as_array().size(), 0U);
}

TEST_F(Get, NamesAndASelectorExcludeEachOther) {
  EXPECT_EQ(get_it({.words = {"pods", "a"}, .labels = "x=y"}).code, 2);
}

TEST_F(Get, ControlCharactersStayOutOfTables) {
  json::Value bad = pod("a", running());
  bad["status"]["containerStatuses"] = json::Array{
      json::Object{{"name", "main"},
                   {"state", json::Object{{"waiting", json::Object{{"reason", "\x1b[31mred"}}}}}}};
  create(api::pods(), bad);
  EXPECT_THAT(get_it({.words = {"pods"}}).out, Not(HasSubstr("\x1b")));
}

class Nodes : public Get {
 protected:
  void SetUp() override {
    const json::Value resources =
        json::Object{{"cpu", "8"}, {"memory", "32Gi"}, {"nvidia.com/gpu", "4"}, {"pods", "110"}};
    create(api::nodes(),
           json::Object{
               {"apiVersion", "v1"},
               {"kind", "Node"},
               {"metadata", json::Object{{"name", "box"}}},
               {"spec", json::Object{{"unschedulable", true}}},
               {"status", json::Object{{"capacity", resources},
                                       {"allocatable", resources},
                                       {"conditions",
                                        json::Array{json::Object{{"type", "Ready"},
                                                                 {"status", "True"},
                                                                 {"reason", "KubeletReady"}}}}}}});
    json::Value user = pod("user", running());
    user["spec"]["nodeName"] = "box";
    json::Value container = std::as_const(user)["spec"]["containers"][0];
    container["resources"]["requests"] =
        json::Object{{"cpu", "1500m"}, {"memory", "2560Mi"}, {"nvidia.com/gpu", "1"}};
    container["resources"]["limits"] = json::Object{{"nvidia.com/gpu", "1"}};
    user["spec"]["containers"] = json::Array{container};
    create(api::pods(), user);
    user["metadata"]["name"] = "ended";
    user["status"]["phase"] = "Succeeded";
    create(api::pods(), user);
  }
};

TEST_F(Nodes, ShowWhatTheyHaveAndWhatIsUsed) {
  const std::string out = get_it({.words = {"nodes"}}).out;
  EXPECT_THAT(out, ContainsRegex("NAME +STATUS +CPU +MEMORY +nvidia.com/gpu +PODS +AGE\n"));
  EXPECT_THAT(
      out, ContainsRegex("box +Ready,SchedulingDisabled +1.5/8 +2.5Gi/32Gi +1/4 +1/110 +[0-9]+s"));
  EXPECT_THAT(get_it({.words = {"nodes"}, .output = "wide"}).out, HasSubstr("INTERNAL-IP"));
}

TEST_F(Nodes, AreDescribed) {
  const Outcome seen =
      outcome([](Context& context) { return describe(context, {.words = {"nodes"}}); });
  EXPECT_EQ(seen.code, 0) << seen.err;
  EXPECT_THAT(seen.out, HasSubstr("Name:              box\n"));
  EXPECT_THAT(seen.out, ContainsRegex("cpu +8 +8 +1.5 +19%"));
  EXPECT_THAT(seen.out, ContainsRegex("nvidia.com/gpu +4 +4 +1 +25%"));
  EXPECT_THAT(seen.out, ContainsRegex("default +user +Running +1.5 +2.5Gi +nvidia.com/gpu=1"));
  EXPECT_THAT(seen.out, Not(HasSubstr("ended"))) << "it takes no room any more";
  EXPECT_THAT(seen.out, ContainsRegex("Ready +True .* KubeletReady"));
  EXPECT_THAT(seen.out, Not(HasSubstr("apiVersion")));
}

TEST_F(Get, APodIsDescribed) {
  json::Value made = pod("a", json::Object{{"waiting", json::Object{{"reason", "CrashLoopBackOff"},
                                                                    {"message", "back-off 10s"}}}});
  made["spec"]["containers"] = json::Array{json::Object{
      {"name", "main"},
      {"image", "busybox"},
      {"command", json::Array{"sh", "-c", "exit 3"}},
      {"env",
       json::Array{json::Object{{"name", "MODE"}, {"value", "fast"}},
                   json::Object{{"name", "KEY"},
                                {"valueFrom",
                                 json::Object{{"secretKeyRef",
                                               json::Object{{"name", "keys"}, {"key", "api"}}}}}}}},
      {"volumeMounts",
       json::Array{json::Object{{"name", "data"}, {"mountPath", "/data"}, {"readOnly", true}}}}}};
  made["spec"]["volumes"] =
      json::Array{json::Object{{"name", "data"}, {"emptyDir", json::Object{}}}};
  json::Value status = std::as_const(made)["status"]["containerStatuses"][0];
  status["lastState"] =
      json::Object{{"terminated", json::Object{{"exitCode", 3}, {"reason", "Error"}}}};
  status["restartCount"] = 4;
  made["status"]["containerStatuses"] = json::Array{status};
  made["status"]["conditions"] = json::Array{json::Object{{"type", "PodScheduled"},
                                                          {"status", "False"},
                                                          {"reason", "Unschedulable"},
                                                          {"message", "no room"}}};
  create(api::pods(), made);
  const Outcome seen =
      outcome([](Context& context) { return describe(context, {.words = {"pods/a"}}); });
  EXPECT_EQ(seen.code, 0) << seen.err;
  for (const char* line :
       {"Status: +CrashLoopBackOff\n", "    Image: +busybox\n", "    Command: +sh -c exit 3\n",
        "    State: +Waiting\n      Reason: +CrashLoopBackOff\n      Message: +back-off 10s\n",
        "    Last State: +Terminated\n      Reason: +Error\n      Exit Code: +3\n",
        "    Restart Count: +4\n", "    Environment: +MODE=fast\n +KEY=<key api of secret keys>\n",
        "    Mounts: +/data from data .ro.\n", "  PodScheduled +False +Unschedulable +no room\n",
        "Volumes:\n  data: +emptyDir", "Events:\n  none\n"})
    EXPECT_THAT(seen.out, ContainsRegex(line));
  EXPECT_THAT(seen.out, Not(HasSubstr("apiVersion")));
}

class Watching : public Get {
 public:
  using VerbTest::cluster;
  // Runs `get -w` and meanwhile `story`; nobody reads after the story's end.
  Outcome watch(GetOptions options, std::function<Task<void>(Watching&)> story) {
    options.watch = true;
    rt::TaskScope scope(loop());
    scope.spawn(play(std::move(story)));
    const Outcome seen = get_it(options);
    loop().run(scope.close());
    return seen;
  }
  Task<void> play(std::function<Task<void>(Watching&)> story) {
    co_await story(*this);
    if (output().broken) output().broken();
  }
  // Until that was printed.
  Task<void> until(std::string text) {
    for (int i = 0; i < 2000 && output().out.find(text) == std::string::npos; ++i)
      static_cast<void>(co_await rt::sleep_for(loop(), std::chrono::milliseconds(5)));
    EXPECT_THAT(output().out, HasSubstr(text));
  }
  Task<void> add(json::Value object) {
    const auto created = co_await cluster().create(api::pods(), object);
    EXPECT_TRUE(created);
    json::Value with_status = **created;
    with_status["status"] = std::as_const(object)["status"];
    EXPECT_TRUE(co_await cluster().update_status(api::pods(), with_status));
  }
};

TEST_F(Watching, PrintsEachRowThatChanges) {
  create(api::pods(), pod("a"));
  const Outcome seen = watch({.words = {"pods"}}, [](Watching& it) -> Task<void> {
    co_await it.until("a      0/1     Pending");
    co_await it.add(pod("b", running()));
    co_await it.until("b      1/1     Running");
    const auto gone = co_await it.cluster().remove(api::pods(), {.ns = "default", .name = "b"},
                                                   {.grace_seconds = 0});
    EXPECT_TRUE(gone);
    co_await it.until("b      1/1     Deleted");
  });
  EXPECT_EQ(std::ranges::count(seen.out, 'N'), 1) << "one header:\n" << seen.out;
}

TEST_F(Watching, AJobsRowFollowsItsPods) {
  create(toy_, "bert", json::Object{{"state", "GOING"}});
  const json::Value first = rank(toy_, "bert", 0);
  const json::Value second = rank(toy_, "bert", 1);
  const Outcome seen = watch({.words = {"bert"}}, [=](Watching& it) -> Task<void> {
    co_await it.until("0/4");
    co_await it.add(first);
    co_await it.until("1/4");
    co_await it.add(second);
    co_await it.until("2/4");
  });
  EXPECT_THAT(seen.out, MatchesRegex("NAME .*\nbert .*0/4.*\nbert .*1/4.*\nbert .*2/4.*\n"));
}

TEST_F(Watching, EveryFormatIsOneDocumentAChange) {
  create(api::pods(), pod("a"));
  const auto add_b = [](Watching& it, std::string before, std::string after) -> Task<void> {
    co_await it.until(before);
    co_await it.add(pod("b"));
    co_await it.until(after);
    static_cast<void>(co_await it.cluster().remove(api::pods(), {.ns = "default", .name = "b"},
                                                   {.grace_seconds = 0}));
  };
  const Outcome names = watch({.words = {"pods"}, .output = "name"},
                              [&](Watching& it) { return add_b(it, "pods/a\n", "pods/b\n"); });
  EXPECT_THAT(names.out, HasSubstr("pods/a\npods/b\n"));
  const Outcome paths = watch({.words = {"pods"}, .output = "jsonpath={.metadata.name}"},
                              [&](Watching& it) { return add_b(it, "a\n", "b\n"); });
  EXPECT_THAT(paths.out, HasSubstr("a\nb\n"));
  const Outcome yaml = watch({.words = {"pods"}, .output = "yaml"},
                             [&](Watching& it) { return add_b(it, "name: a", "name: b"); });
  EXPECT_THAT(yaml.out, AllOf(HasSubstr("---\napiVersion: v1"), Not(HasSubstr("kind: List"))));
}

}  // namespace
}  // namespace muster::cli
