#include <fmt/format.h>

#include "api/pod.h"
#include "http_support.h"

namespace muster::server {
namespace {

constexpr const char* kPods = "/api/v1/namespaces/default/pods";

TEST_F(HttpFrontTest, CreatesReadsUpdatesDeletes) {
  json::Value asked = pod("a");
  asked["metadata"].object().erase("namespace");
  const auto made = post(kPods, asked);
  ASSERT_EQ(made.status, 201) << made.body;
  EXPECT_EQ(*made.headers.get("Content-Type"), "application/json");
  EXPECT_EQ(*made.headers.get("Cache-Control"), "no-cache, private");
  json::Value object = get_json(fmt::format("{}/a", kPods));
  EXPECT_EQ(api::namespace_of(object), "default");

  object["metadata"]["labels"]["x"] = "y";
  const auto put = call("PUT", fmt::format("{}/a", kPods), json::write(object));
  ASSERT_EQ(put.status, 200) << put.body;
  EXPECT_EQ(call("PUT", fmt::format("{}/a", kPods), json::write(object)).status, 409);

  const auto gone = call("DELETE", fmt::format("{}/a", kPods));
  EXPECT_EQ(gone.status, 200);
  EXPECT_EQ(api::kind_of(seen(gone.body)), "Pod");
  EXPECT_EQ(get_json(fmt::format("{}/a", kPods), 404)["reason"].as_string(), "NotFound");
}

TEST_F(HttpFrontTest, ErrorsHaveTheShapeThatClientsMatch) {
  const json::Value missing = get_json(fmt::format("{}/x", kPods), 404);
  EXPECT_EQ(missing["message"].as_string(), "pods \"x\" not found");
  EXPECT_EQ(missing["details"]["kind"].as_string(), "pods");
  EXPECT_EQ(missing["details"]["name"].as_string(), "x");
  EXPECT_EQ(missing["code"].as_int(), 404);

  json::Value bad = pod("a");
  bad["spec"]["containers"].array()[0]["image"] = "";
  const auto invalid = post(kPods, bad);
  EXPECT_EQ(invalid.status, 422);
  EXPECT_EQ(seen(invalid.body)["details"]["kind"].as_string(), "Pod");
  EXPECT_EQ(seen(invalid.body)["details"]["causes"][0]["field"].as_string(),
            "spec.containers[0].image");

  const auto unknown = call("GET", "/api/v1/namespaces/default/gadgets");
  EXPECT_EQ(unknown.status, 404);
  EXPECT_EQ(unknown.body, "404 page not found\n");
  EXPECT_EQ(call("GET", "/nothing").status, 404);
  EXPECT_EQ(call("GET", "/api/v1/pods/a").status, 404);
  EXPECT_EQ(call("PUT", kPods).status, 405);
  EXPECT_EQ(call("POST", "/api/v1/pods", "{}").status, 405);
  EXPECT_EQ(call("POST", kPods, "kind: Pod", {{"Content-Type", "application/yaml"}}).status, 415);
  EXPECT_EQ(call("POST", kPods, "{", {{"Content-Type", "application/json"}}).status, 400);
  EXPECT_EQ(call("GET", kPods, "", {{"Accept", "application/xml"}}).status, 406);
  EXPECT_EQ(call("GET", "/api/v1/namespaces/%2e%2e/pods").status, 400);
  EXPECT_EQ(call("GET", "/api/v1/namespaces/default/pods?x=%zz").status, 400);
  json::Value other = pod("b");
  other["metadata"]["namespace"] = "kube-system";
  EXPECT_EQ(post(kPods, other).status, 400);
}

TEST_F(HttpFrontTest, ListsInPages) {
  for (const char* name : {"a", "b", "c"}) make(api::pods(), pod(name));
  const json::Value page = get_json(fmt::format("{}?limit=2", kPods));
  EXPECT_EQ(api::kind_of(page), "PodList");
  EXPECT_EQ(page["items"].as_array().size(), 2U);
  const json::Value rest = get_json(fmt::format(
      "{}?limit=2&continue={}", kPods, percent_encode(page["metadata"]["continue"].as_string())));
  ASSERT_EQ(rest["items"].as_array().size(), 1U);
  EXPECT_EQ(api::name_of(rest["items"][0]), "c");
  EXPECT_EQ(get_json("/api/v1/pods?labelSelector=app%20in%20(x)")["items"].as_array().size(), 0U);
  EXPECT_EQ(get_json("/api/v1/pods?fieldSelector=metadata.name%3Db")["items"].as_array().size(),
            1U);
  EXPECT_EQ(call("GET", "/api/v1/pods?resourceVersionMatch=Exact").status, 422);
  EXPECT_EQ(call("GET", "/api/v1/pods?limit=x").status, 400);
}

TEST_F(HttpFrontTest, WatchesWithTheBooleansOfRealClients) {
  make(api::config_maps(), config_map("a"));
  for (const char* flag : {"watch=true", "watch=True", "watch=1", "watch=", "watch"}) {
    const auto list =
        events(fmt::format("/api/v1/namespaces/default/configmaps?{}&timeoutSeconds=1", flag));
    ASSERT_EQ(list.size(), 1U) << flag;
    EXPECT_EQ(list[0]["type"].as_string(), "ADDED");
    EXPECT_EQ(api::name_of(list[0]["object"]), "a");
  }
  EXPECT_EQ(api::kind_of(get_json("/api/v1/configmaps?watch=False")), "ConfigMapList");
}

TEST_F(HttpFrontTest, AWatchThatIsTooOldSaysSoInTheStreamOrAtOnce) {
  const json::Value a = make(api::config_maps(), config_map("a"));
  for (int i = 0; i < 4'200; ++i)
    EXPECT_TRUE(update(api::config_maps(), config_map("a", std::to_string(i))));
  const auto response = call("GET", fmt::format("/api/v1/configmaps?watch=1&resourceVersion={}",
                                                api::resource_version_of(a)));
  EXPECT_EQ(response.status, 410);
  EXPECT_EQ(seen(response.body)["reason"].as_string(), "Expired");
}

TEST_F(HttpFrontTest, WatchListEndsItsInitialEventsWithABookmark) {
  make(api::config_maps(), config_map("a"));
  const auto list = events(
      "/api/v1/configmaps?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan"
      "&allowWatchBookmarks=true&timeoutSeconds=1");
  ASSERT_EQ(list.size(), 3U);
  EXPECT_EQ(list[1]["type"].as_string(), "BOOKMARK");
  EXPECT_EQ(api::annotation_of(list[1]["object"], "k8s.io/initial-events-end"), "true");
  EXPECT_EQ(list[2]["type"].as_string(), "BOOKMARK") << "before the watch's own end";
  EXPECT_EQ(call("GET", "/api/v1/configmaps?watch=1&sendInitialEvents=true").status, 422);
  EXPECT_EQ(call("GET", "/api/v1/configmaps?sendInitialEvents=true").status, 422);
  EXPECT_EQ(call("GET", "/api/v1/configmaps?watch=1&resourceVersionMatch=NotOlderThan").status,
            422);
}

TEST_F(HttpFrontTest, Patches) {
  make(widgets(), widget("w"));
  const std::string path = "/apis/test.dev/v1/namespaces/default/widgets/w";
  const auto merged =
      call("PATCH", path, R"({"metadata":{"labels":{"a":"b"}},"spec":{"size":3,"x":null}})",
           {{"Content-Type", "application/merge-patch+json"}});
  ASSERT_EQ(merged.status, 200) << merged.body;
  EXPECT_EQ(seen(merged.body)["spec"]["size"].as_int(), 3);
  const auto changed = call("PATCH", path,
                            R"([{"op":"test","path":"/spec/size","value":3},
                                {"op":"add","path":"/metadata/labels/c~1d","value":"e"},
                                {"op":"remove","path":"/metadata/labels/a"}])",
                            {{"Content-Type", "application/json-patch+json"}});
  ASSERT_EQ(changed.status, 200) << changed.body;
  EXPECT_EQ(json::write(seen(changed.body)["metadata"]["labels"]), R"({"c/d":"e"})");
  const auto refused = [&](const char* body, const char* type) {
    return call("PATCH", path, body, {{"Content-Type", type}}).status;
  };
  EXPECT_EQ(
      refused(R"([{"op":"test","path":"/spec/size","value":9}])", "application/json-patch+json"),
      422);
  EXPECT_EQ(refused(R"({"spec":{"size":0}})", "application/merge-patch+json"), 422);
  EXPECT_EQ(refused(R"({"metadata":{"resourceVersion":"1"}})", "application/merge-patch+json"),
            409);
  EXPECT_EQ(refused(R"({"metadata":{"name":"v"}})", "application/merge-patch+json"), 400);
  EXPECT_EQ(refused(R"({})", "application/strategic-merge-patch+json"), 415);
  EXPECT_EQ(refused(R"({})", "application/apply-patch+yaml"), 415);
  const auto status =
      call("PATCH", path + "/status", R"({"status":{"phase":"Done"},"spec":{"size":9}})",
           {{"Content-Type", "application/merge-patch+json"}});
  EXPECT_EQ(seen(status.body)["status"]["phase"].as_string(), "Done");
  EXPECT_EQ(seen(status.body)["spec"]["size"].as_int(), 3);
}

class JsonPatchTest : public HttpFrontTest {
 protected:
  JsonPatchTest() { make(widgets(), widget("w")); }

  net::HttpResponse patch(const json::Array& operations) {
    return call("PATCH", "/apis/test.dev/v1/namespaces/default/widgets/w",
                json::write(json::Value(operations)),
                {{"Content-Type", "application/json-patch+json"}});
  }
};

// Each of two hangs the other below its own deepest: depths that grow like Fibonacci's numbers
// would need more stack than there is, to look at them or to let go of them.
TEST_F(JsonPatchTest, NestsNoDeeperThanAReaderWouldGo) {
  const auto path_of = [](char top, int depth) {
    std::string path{'/', top};
    for (int i = 0; i < depth; ++i) path += "/a";
    return path;
  };
  json::Array operations;
  for (const char* top : {"/a", "/b"})
    operations.push_back(json::Object{{"op", "add"}, {"path", top}, {"value", json::Object()}});
  int depths[] = {0, 0};
  for (int i = 0; depths[0] + depths[1] < 200'000; ++i) {
    const bool first = i % 2 == 0;
    operations.push_back(
        json::Object{{"op", "copy"},
                     {"from", first ? "/b" : "/a"},
                     {"path", path_of(first ? 'a' : 'b', depths[first ? 0 : 1] + 1)}});
    depths[first ? 0 : 1] += depths[first ? 1 : 0] + 1;
  }
  const auto refused = patch(operations);
  EXPECT_EQ(refused.status, 400);
  EXPECT_NE(refused.body.find("deeper than 64 levels"), std::string::npos) << refused.body;
  operations.resize(8);
  EXPECT_EQ(patch(operations).status, 200) << "the first of them are nothing out of the ordinary";
}

// Not even if nothing of it is left in the end.
TEST_F(JsonPatchTest, CopiesNoMoreThanAnObjectMayHave) {
  const auto status_of = [&](int copies) {
    json::Array operations;
    operations.push_back(
        json::Object{{"op", "add"}, {"path", "/spec/text"}, {"value", std::string(100'000, 'x')}});
    for (int i = 0; i < copies; ++i) {
      operations.push_back(
          json::Object{{"op", "copy"}, {"from", "/spec/text"}, {"path", "/spec/other"}});
    }
    return patch(operations).status;
  };
  EXPECT_EQ(status_of(20), 413);
  EXPECT_EQ(status_of(10), 200);
}

TEST_F(HttpFrontTest, SubresourcesOfPodsAndAccounts) {
  const json::Value made = make(api::pods(), pod("a"));
  const auto bound =
      post(fmt::format("{}/a/binding", kPods), parse(R"({"target":{"kind":"Node","name":"n1"}})"));
  EXPECT_EQ(bound.status, 201) << bound.body;
  json::Value object = get_json(fmt::format("{}/a", kPods));
  EXPECT_EQ(api::node_name_of(object), "n1");
  object["status"]["phase"] = "Running";
  EXPECT_EQ(call("PUT", fmt::format("{}/a/status", kPods), json::write(object)).status, 200);
  EXPECT_EQ(get_json(fmt::format("{}/a/status", kPods))["status"]["phase"].as_string(), "Running");
  const auto token = post("/api/v1/namespaces/default/serviceaccounts/default/token",
                          parse(R"({"spec":{"expirationSeconds":3600}})"));
  EXPECT_EQ(token.status, 201);
  EXPECT_FALSE(seen(token.body)["status"]["token"].as_string().empty());
  EXPECT_EQ(call("GET", fmt::format("{}/a/attach", kPods)).status, 404);
  EXPECT_EQ(call("GET", fmt::format("{}/a/binding", kPods)).status, 405);
}

TEST_F(HttpFrontTest, DeleteTakesItsOptionsFromTheBody) {
  const json::Value made = make(widgets(), widget("w"));
  const std::string path = "/apis/test.dev/v1/namespaces/default/widgets/w";
  EXPECT_EQ(call("DELETE", path, R"({"preconditions":{"uid":"other"}})").status, 409);
  EXPECT_EQ(call("DELETE", path, R"({"propagationPolicy":"Whatever"})").status, 400);
  EXPECT_EQ(call("DELETE", path, R"({"orphanDependents":true})").status, 400);
  EXPECT_EQ(call("DELETE", path, R"({"dryRun":["All"]})").status, 200);
  EXPECT_TRUE(exists(widgets(), "w"));
  const auto gone = call("DELETE", path, R"({"propagationPolicy":"Background"})");
  EXPECT_EQ(gone.status, 200);
  EXPECT_EQ(seen(gone.body)["status"].as_string(), "Success");
  EXPECT_EQ(seen(gone.body)["details"]["uid"].as_string(), api::uid_of(made));
}

TEST_F(HttpFrontTest, ACollectionGoesAsOne) {
  json::Value kept = config_map("kept");
  make(api::config_maps(), kept);
  for (const char* name : {"a", "b"}) {
    json::Value each = config_map(name);
    each["metadata"]["labels"]["app"] = "x";
    make(api::config_maps(), each);
  }
  EXPECT_EQ(call("DELETE", "/api/v1/namespaces/default/configmaps?labelSelector=app%3Dx").status,
            200);
  EXPECT_FALSE(exists(api::config_maps(), "a"));
  EXPECT_FALSE(exists(api::config_maps(), "b"));
  EXPECT_TRUE(exists(api::config_maps(), "kept"));
}

TEST_F(HttpFrontTest, DryRunIsDoneOrRefused) {
  EXPECT_EQ(post(fmt::format("{}?dryRun=All", kPods), pod("a")).status, 201);
  EXPECT_FALSE(exists(api::pods(), "a"));
  EXPECT_EQ(post(fmt::format("{}?dryRun=Some", kPods), pod("a")).status, 400);
  EXPECT_FALSE(exists(api::pods(), "a"));
}

TEST_F(HttpFrontTest, Discovery) {
  EXPECT_EQ(get_json("/version")["gitVersion"].as_string().substr(0, 2), "v1");
  EXPECT_EQ(call("GET", "/readyz").body, "ok");
  EXPECT_EQ(get_json("/api")["versions"][0].as_string(), "v1");
  EXPECT_EQ(api::kind_of(get_json("/apis")), "APIGroupList");
  EXPECT_EQ(get_json("/apis/test.dev")["preferredVersion"]["groupVersion"].as_string(),
            "test.dev/v1");
  const json::Value list = get_json("/apis/test.dev/v1");
  EXPECT_EQ(list["resources"][0]["name"].as_string(), "widgets");
  EXPECT_EQ(list["resources"][0]["shortNames"][0].as_string(), "wd");
  EXPECT_EQ(list["resources"][1]["name"].as_string(), "widgets/status");
  EXPECT_EQ(call("GET", "/apis/other.dev").status, 404);
}

TEST_F(HttpFrontTest, TablesAsKubectlAsksForThem) {
  const net::Headers table{
      {"Accept", "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"}};
  make(api::pods(), pod("a"));
  EXPECT_TRUE(loop_.run(core().bind({.ns = "default", .name = "a"}, "", "n1")));
  loop_.run_for(std::chrono::seconds(42));
  const json::Value list = parse(call("GET", kPods, "", table).body);
  EXPECT_EQ(api::kind_of(list), "Table");
  EXPECT_EQ(list["columnDefinitions"][0]["name"].as_string(), "Name");
  EXPECT_EQ(json::write(list["rows"][0]["cells"]),
            R"(["a","0/1","Pending","0","42s","<none>","n1","<none>","<none>"])");
  EXPECT_EQ(api::kind_of(list["rows"][0]["object"]), "PartialObjectMetadata");

  make(widgets(), widget("w", 5));
  const json::Value jobs = parse(call("GET", "/apis/test.dev/v1/widgets", "", table).body);
  EXPECT_EQ(json::write(jobs["rows"][0]["cells"]), R"(["w",5,"0s"])");

  const auto watched = events(fmt::format("{}?watch=1&timeoutSeconds=1", kPods), table);
  ASSERT_EQ(watched.size(), 1U);
  EXPECT_EQ(api::kind_of(watched[0]["object"]), "Table");
  EXPECT_FALSE(watched[0]["object"]["columnDefinitions"].as_array().empty());
  for (const char* path :
       {"/api/v1/services", "/api/v1/namespaces", "/api/v1/events", "/api/v1/nodes",
        "/api/v1/configmaps", "/api/v1/secrets", "/api/v1/serviceaccounts"}) {
    const json::Value rows = parse(call("GET", path, "", table).body);
    for (const json::Value& row : rows["rows"].as_array()) {
      EXPECT_EQ(row["cells"].as_array().size(), rows["columnDefinitions"].as_array().size())
          << path;
    }
  }
}

TEST_F(HttpFrontTest, LogsComeFromTheirSource) {
  class Source final : public LogSource {
   public:
    Task<Result<std::unique_ptr<LogStream>>> open(ObjectPtr pod, LogOptions options) override {
      class Stream final : public LogStream {
       public:
        explicit Stream(std::string text) : text_(std::move(text)) {}
        Task<Result<std::optional<std::string>>> next() override {
          if (text_.empty()) co_return std::optional<std::string>();
          co_return std::optional(std::exchange(text_, {}));
        }

       private:
        std::string text_;
      };
      co_return std::make_unique<Stream>(
          fmt::format("{}/{} tail {} follow {}\n", api::name_of(*pod), options.container,
                      options.tail_lines.value_or(-1), options.follow));
    }
  };
  EXPECT_EQ(call("GET", fmt::format("{}/a/log", kPods)).status, 404);
  make(api::pods(), pod("a"));
  EXPECT_EQ(call("GET", fmt::format("{}/a/log", kPods)).status, 503);
  Source source;
  core().set_log_source(&source);
  const auto response = call("GET", fmt::format("{}/a/log?tailLines=5&follow=True", kPods));
  EXPECT_EQ(response.body, "a/main tail 5 follow true\n");
  EXPECT_EQ(call("GET", fmt::format("{}/a/log?container=x", kPods)).status, 400);
  for (const auto& [query, status] : std::vector<std::pair<const char*, int>>{
           {"sinceTime=x", 400},
           {"sinceTime=2026-11-15T03:04:05Z", 200},
           {"sinceTime=2026-11-15T03:04:05Z&sinceSeconds=5", 422},
           {"sinceSeconds=0", 422},
           {"sinceSeconds=9223372036854775807", 200},
           {"tailLines=-1", 422},
           {"tailLines=0", 200},
           {"limitBytes=0", 422},
           {"stream=All", 400}}) {
    EXPECT_EQ(call("GET", fmt::format("{}/a/log?{}", kPods, query)).status, status) << query;
  }
}

}  // namespace
}  // namespace muster::server
