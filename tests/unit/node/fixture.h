#pragma once

#include <chrono>
#include <deque>
#include <filesystem>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "api/object.h"
#include "api/pod.h"
#include "base/random.h"
#include "json/read.h"
#include "json/write.h"
#include "node/agent/agent.h"
#include "rt/sim_loop.h"
#include "unit/node/fake_cluster.h"
#include "unit/node/fake_runtime.h"

namespace muster::node {

using namespace std::chrono_literals;

inline json::Value parse(std::string_view text) {
  auto value = json::read(text);
  EXPECT_TRUE(value.has_value()) << text;
  return value ? *value : json::Value();
}

// A directory that goes with the test.
class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string pattern = (std::filesystem::temp_directory_path() / "node-test-XXXXXX").string();
    CHECK(::mkdtemp(pattern.data()) != nullptr);
    path_ = pattern;
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  ~TemporaryDirectory() {
    std::error_code error;
    std::filesystem::remove_all(path_, error);
  }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// A pod for node n1 whose containers each run one command line of FakeRuntime.
class PodBuilder {
 public:
  explicit PodBuilder(const std::string& name) {
    pod_ = parse(R"({"apiVersion":"v1","kind":"Pod","metadata":{},"spec":{"nodeName":"n1",
        "restartPolicy":"Always","terminationGracePeriodSeconds":30},"status":{"phase":"Pending",
        "qosClass":"BestEffort"}})");
    pod_["metadata"]["name"] = name;
    pod_["metadata"]["namespace"] = "default";
  }
  PodBuilder& restart(const char* policy) {
    pod_["spec"]["restartPolicy"] = policy;
    return *this;
  }
  PodBuilder& container(const char* name, std::string_view command, std::string_view more = "{}") {
    return add("containers", name, command, more);
  }
  PodBuilder& init(const char* name, std::string_view command, std::string_view more = "{}") {
    return add("initContainers", name, command, more);
  }
  PodBuilder& spec(const char* field, std::string_view value) {
    pod_["spec"][field] = parse(value);
    return *this;
  }
  PodBuilder& label(const char* key, const char* value) {
    pod_["metadata"]["labels"][key] = value;
    return *this;
  }
  PodBuilder& submitted_from(const char* directory) {
    pod_["metadata"]["annotations"][kEnvironmentAnnotation] =
        json::write(json::Object{{kDirectoryVariable, directory}});
    return *this;
  }
  [[nodiscard]] json::Value build() const { return pod_; }

 private:
  PodBuilder& add(const char* list, const char* name, std::string_view command,
                  std::string_view more) {
    auto container = parse(more);
    container["name"] = name;
    container["image"] = "busybox";
    json::Array words;
    for (const auto word : split(command, ' ')) {
      if (!word.empty()) words.emplace_back(word);
    }
    if (!words.empty()) container["command"] = std::move(words);
    pod_["spec"][list].array().push_back(std::move(container));
    return *this;
  }

  json::Value pod_;
};

// Work on files in virtual time: done in a turn of the loop of its own, or kept until it is let go.
class FakeDiskWork final : public DiskWork {
 public:
  struct Control {
    bool held = false;
    std::deque<std::pair<rt::Callback, rt::Callback>> kept;
    int done = 0;
  };
  FakeDiskWork(rt::Loop& loop, std::shared_ptr<Control> control)
      : DiskWork(loop), control_(std::move(control)) {}

 private:
  void submit(rt::Callback work, rt::Callback then) override {
    control_->kept.emplace_back(std::move(work), std::move(then));
    if (!control_->held) release(loop(), control_);
  }

 public:
  static void release(rt::Loop& loop, const std::shared_ptr<Control>& control) {
    for (auto& entry : std::exchange(control->kept, {})) {
      loop.post([control, work = std::move(entry.first), then = std::move(entry.second)]() mutable {
        work();
        ++control->done;
        then();
      });
    }
  }

 private:
  std::shared_ptr<Control> control_;
};

// A node agent on a machine and a cluster that exist only here.
class NodeTest : public ::testing::Test {
 protected:
  NodeTest() : cluster(loop), runtime(loop, directory.path()), rng(7) {
    options.name = "n1";
    options.directory = directory.path();
    options.host_ip = "192.0.2.1";
    options.environment = {{"PATH", "/usr/bin"}};
  }
  ~NodeTest() override {
    if (agent) stop();
    for (auto& [uid, pod] : runtime.pods) {
      for (auto& [key, process] : pod.processes) process.timer->cancel();
    }
  }

  void start() {
    auto made = NodeAgent::create({.loop = loop,
                                   .cluster = cluster,
                                   .runtime = runtime,
                                   .rng = rng,
                                   .disk = std::make_unique<FakeDiskWork>(loop, disk)},
                                  options);
    ASSERT_TRUE(made.has_value()) << made.error().message;
    agent = std::move(*made);
    const auto started = loop.run(agent->start());
    ASSERT_TRUE(started.has_value()) << started.error().message;
  }
  void stop() {
    loop.run(agent->close());
    agent.reset();
  }
  // The agent dies and comes back; the machine and the cluster stay.
  void restart() {
    stop();
    start();
  }

  // Work on files does not get done from now on, until it is let go.
  void hold_disk() { disk->held = true; }
  void release_disk() {
    disk->held = false;
    FakeDiskWork::release(loop, disk);
  }

  std::string create(const PodBuilder& pod) {
    return api::uid_of(*cluster.put(api::pods(), pod.build()));
  }
  api::ObjectPtr pod(const std::string& name) { return cluster.at(api::pods(), "default", name); }
  std::string phase(const std::string& name) {
    const auto object = pod(name);
    return object ? (*object)["status"]["phase"].as_string() : "gone";
  }
  json::Value status(const std::string& name, const std::string& container) {
    const auto object = pod(name);
    return object ? api::container_status(*object, container) : json::Value();
  }
  std::string waiting(const std::string& name, const std::string& container) {
    return status(name, container)["state"]["waiting"]["reason"].as_string();
  }
  std::string condition(const std::string& name, const std::string& type) {
    for (const auto& one : (*pod(name))["status"]["conditions"].as_array()) {
      if (one["type"].as_string() == type) return one["status"].as_string();
    }
    return "absent";
  }
  bool has_event(const std::string& reason) { return !event_message(reason).empty(); }
  std::string event_message(const std::string& reason) {
    for (const auto& event : cluster.all(api::events())) {
      if ((*event)["reason"].as_string() == reason) return (*event)["message"].as_string();
    }
    return "";
  }

  rt::SimLoop loop{Time{} + std::chrono::seconds(1'800'000'000)};
  TemporaryDirectory directory;
  FakeCluster cluster;
  FakeRuntime runtime;
  SeededRng rng;
  NodeOptions options;
  std::shared_ptr<FakeDiskWork::Control> disk = std::make_shared<FakeDiskWork::Control>();
  std::unique_ptr<NodeAgent> agent;
};

}  // namespace muster::node
