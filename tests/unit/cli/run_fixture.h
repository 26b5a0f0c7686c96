#pragma once

#include <csignal>
#include <fstream>
#include <functional>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "cli/verbs/verbs.h"
#include "json/read.h"
#include "json/write.h"
#include "live_errors.h"
#include "rt/scope.h"

// `run` and `attach` on a server where nothing runs by itself: the test plays the cluster.
namespace muster::cli {

inline json::Value status_of(const std::string& state, std::optional<plan::Cause> cause = {}) {
  plan::Ledger ledger;
  ledger.cause = std::move(cause);
  return json::Object{{"state", state}, {std::string(plan::kStatusKey), ledger.to_json()}};
}

inline json::Value failed_with(int code) {
  return status_of("BROKEN",
                   plan::Cause{.role = "Rank", .index = 1, .pod = "p", .exit_code = code});
}

// A pod that waits in vain.
inline constexpr std::string_view kCannotStart = R"({"phase":"Pending",
    "conditions":[{"type":"muster.dev/CannotStart","status":"True",
                   "reason":"InvalidContainer","message":"no program"}],
    "containerStatuses":[{"name":"c","state":{"waiting":
        {"reason":"CreateContainerConfigError","message":"no program"}}}]})";

class RunVerb : public VerbTest {
 public:
  using VerbTest::cluster;
  using VerbTest::home;
  using VerbTest::loop;
  using VerbTest::output;
  using VerbTest::served;
  using VerbTest::store_status;
  using Play = std::function<Task<void>(LiveErrors&)>;

  std::string file_of(const std::vector<std::string>& names) {
    const std::string path = home() + "/jobs.yaml";
    std::ofstream file(path);
    for (const std::string& name : names) file << json::write(toy_.job(name)) << "\n---\n";
    return path;
  }
  Outcome play(const std::function<Task<int>(Context&)>& verb, const Play& cluster_side) {
    LiveErrors told(loop(), output());
    rt::TaskScope scope(loop());
    scope.spawn(cluster_side(told));
    const Outcome seen = outcome(verb);
    loop().run(scope.close());
    return seen;
  }
  Outcome run_it(RunOptions options, const Play& cluster_side) {
    return play([&](Context& context) { return run(context, options); }, cluster_side);
  }
  Task<void> remove(std::string name) {
    const auto removed =
        co_await cluster().remove(toy_.identity().resource, {.ns = "default", .name = name}, {});
    // A run that has seen the end may be faster than we are.
    EXPECT_TRUE(removed || removed.error().code == ErrorCode::Cancelled);
  }
  // A pod of a job, with this status; on a node only that makes it go.
  Task<cluster::ObjectPtr> create_pod(std::string job_name, std::string name, std::string status,
                                      std::string node = "") {
    const auto job = co_await cluster().get(toy_.identity().resource,
                                            {.ns = "default", .name = std::move(job_name)});
    json::Value pod = *json::read(R"({"metadata":{"namespace":"default"},
        "spec":{"containers":[{"name":"c","image":"i"}]}})");
    pod["metadata"]["name"] = name;
    pod["metadata"]["labels"] =
        json::Object{{std::string(plan::labels::kJobUid), api::uid_of(**job)},
                     {std::string(plan::labels::kRole), "Rank"},
                     {std::string(plan::labels::kIndex), name.substr(name.rfind('-') + 1)}};
    if (!node.empty()) pod["spec"]["nodeName"] = node;
    const auto made = co_await cluster().create(api::pods(), std::move(pod));
    EXPECT_TRUE(made);
    co_await set_pod_status(name, *json::read(status));
    co_return *made;
  }
  Task<void> set_pod_status(std::string name, json::Value status) {
    json::Value changed = **co_await get_pod(name);
    changed["status"] = std::move(status);
    EXPECT_TRUE(co_await cluster().update_status(api::pods(), std::move(changed)));
  }
  Task<Result<cluster::ObjectPtr>> get_pod(std::string name) {
    return cluster().get(api::pods(), {.ns = "default", .name = std::move(name)});
  }
  Task<void> remove_pod(std::string name, std::optional<int> grace = 0) {
    EXPECT_TRUE(co_await cluster().remove(api::pods(), {.ns = "default", .name = std::move(name)},
                                          {.grace_seconds = grace}));
  }
  // With a finalizer that nobody takes away.
  Task<void> hold(std::string name) {
    const api::Resource& resource = toy_.identity().resource;
    const auto job = co_await cluster().get(resource, {.ns = "default", .name = name});
    json::Value held = **job;
    held["metadata"]["finalizers"] = json::Array{"example.com/held"};
    EXPECT_TRUE(co_await cluster().update(resource, std::move(held)));
  }
  static std::string content(const std::string& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  }

  Task<void> succeeds(LiveErrors& told, std::string name) {
    co_await told.until("Created");
    co_await store_status(toy_, name, status_of("DONE"));
  }

  const ToyKind& toy_ = kind("Toy", "toy.dev");
};

}  // namespace muster::cli
