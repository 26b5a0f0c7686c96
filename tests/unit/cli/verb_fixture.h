#pragma once

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/context.h"
#include "served_home.h"
#include "toy_kind.h"

namespace muster::cli {

// What is printed, kept in memory, in the order in which it was said.
class CapturedOutput final : public Output {
 public:
  void write(std::string_view text) override { out += text; }
  void write_error(std::string_view text) override {
    err += text;
    if (told) told();
  }
  void flush() override {}
  void on_broken(std::function<void()> action) override { broken = std::move(action); }

  std::string out;
  std::string err;
  std::function<void()> told;    // called after everything that is said on standard error
  std::function<void()> broken;  // what the verb does when nobody reads any more
};

// What a verb printed and how it ended.
struct Outcome {
  int code = -1;
  std::string out;
  std::string err;
};

// A home whose API server knows some kinds (no node: nothing runs), and a command line that knows
// some. Verbs reach the server over its socket, as they do with `muster up`.
class VerbTest : public ::testing::Test {
 protected:
  VerbTest() {
    char path[] = "/tmp/muster-cli.XXXXXX";
    home_ = ::mkdtemp(path);
  }
  ~VerbTest() override {
    if (served_home_) loop_.run(served_home_->close());
    std::filesystem::remove_all(home_);
  }

  // Of these, the command line knows all and the server those that are `served`.
  enum class Where { Served, OnlyKnown };
  const ToyKind& kind(const std::string& name, const std::string& group,
                      Where where = Where::Served, const std::string& version = "v1") {
    if (where == Where::Served) served_.add(std::make_unique<ToyKind>(name, group, version));
    auto known = std::make_unique<ToyKind>(name, group, version);
    const ToyKind& kind = *known;
    known_.add(std::move(known));
    return kind;
  }

  void create(const ToyKind& kind, const std::string& name, json::Value status = {}) {
    const auto created = loop_.run(cluster().create(kind.identity().resource, kind.job(name)));
    ASSERT_TRUE(created) << created.error().message;
    if (!status.is_null()) set_status(kind, name, std::move(status));
  }
  [[nodiscard]] bool exists(const ToyKind& kind, const std::string& name) {
    return loop_.run(cluster().get(kind.identity().resource, {.ns = "default", .name = name}))
        .has_value();
  }

  // Runs one verb: outcome([&](Context& context) { return get(context, {…}); })
  template <class Verb>
  Outcome outcome(Verb verb) {
    static_cast<void>(cluster());
    output_.out.clear();
    output_.err.clear();
    Context context = make_context(known_);
    const int code = loop_.run(verb(context));
    return {.code = code, .out = output_.out, .err = output_.err};
  }

  void set_status(const ToyKind& kind, const std::string& name, json::Value status) {
    loop_.run(store_status(kind, name, std::move(status)));
  }
  Task<void> store_status(const ToyKind& kind, std::string name, json::Value status) {
    const api::Resource& resource = kind.identity().resource;
    const auto job = co_await cluster().get(resource, {.ns = "default", .name = name});
    EXPECT_TRUE(job) << name;
    if (!job) co_return;
    json::Value changed = **job;
    changed["status"] = std::move(status);
    const auto stored = co_await cluster().update_status(resource, std::move(changed));
    EXPECT_TRUE(stored) << stored.error().message;
  }

  // Any object, and its status if it has one.
  void create(const api::Resource& resource, json::Value object) {
    const auto created = loop_.run(cluster().create(resource, object));
    ASSERT_TRUE(created) << created.error().message;
    const json::Value& status = std::as_const(object)["status"];
    if (!status.is_object()) return;
    json::Value with_status = **created;
    with_status["status"] = status;
    const auto stored = loop_.run(cluster().update_status(resource, std::move(with_status)));
    ASSERT_TRUE(stored) << stored.error().message;
  }
  [[nodiscard]] std::string uid_of(const ToyKind& kind, const std::string& name) {
    const auto job =
        loop_.run(cluster().get(kind.identity().resource, {.ns = "default", .name = name}));
    return job ? api::uid_of(**job) : "";
  }
  // A pod of one container that does as `state` says: {running: {}}.
  static json::Value pod(const std::string& name, const json::Value& state = {}) {
    json::Value container =
        json::Object{{"name", "main"}, {"image", "busybox"}, {"command", json::Array{"true"}}};
    json::Value made =
        json::Object{{"apiVersion", "v1"},
                     {"kind", "Pod"},
                     {"metadata", json::Object{{"name", name}, {"namespace", "default"}}},
                     {"spec", json::Object{{"containers", json::Array{container}}}}};
    if (state.is_null()) return made;
    const json::Value& ended = state["terminated"];
    made["status"]["phase"] = !ended.is_object()                ? "Running"
                              : ended["exitCode"].as_int() == 0 ? "Succeeded"
                                                                : "Failed";
    made["status"]["containerStatuses"] = json::Array{json::Object{
        {"name", "main"}, {"ready", !ended.is_object()}, {"restartCount", 0}, {"state", state}}};
    return made;
  }
  // A pod of a job.
  [[nodiscard]] json::Value rank(const ToyKind& kind, const std::string& job, int index,
                                 const json::Value& state = json::Object{
                                     {"running", json::Object{}}}) {
    json::Value made = pod(fmt::format("{}-rank-{}", job, index), state);
    made["metadata"]["labels"] =
        json::Object{{kind.identity().uid_label, uid_of(kind, job)},
                     {std::string(plan::labels::kRole), "Rank"},
                     {std::string(plan::labels::kIndex), std::to_string(index)}};
    return made;
  }

  [[nodiscard]] rt::RealLoop& loop() { return loop_; }
  [[nodiscard]] CapturedOutput& output() { return output_; }
  [[nodiscard]] const std::string& home() const { return home_; }

  // The way to the server as a cluster, by its socket: with --kubeconfig.
  [[nodiscard]] std::string kubeconfig() const {
    const std::string path = home_ + "/to-ourselves";
    std::ofstream(path) << "apiVersion: v1\nkind: Config\ncurrent-context: test\n"
                        << "clusters: [{name: c, cluster: {server: 'unix://" << home_
                        << "/muster.sock'}}]\nusers: [{name: u, user: {}}]\n"
                        << "contexts: [{name: test, context: {cluster: c, user: u}}]\n";
    return path;
  }

  // The server's own side: what happens there without a command line.
  cluster::Cluster& cluster() {
    if (!served_home_) serve({});
    return served_home_->cluster();
  }
  // Served as by a plane that was started for commands, and stays because of these.
  void serve_for_commands(std::vector<std::string> unfinished) {
    serve({.temporary = true, .settings = json::Object{}});
    served_home_->unfinished = std::move(unfinished);
  }
  // Where nodes put their logs and programs.
  server::Core& core() {
    static_cast<void>(cluster());
    return served_home_->core();
  }
  ServedHome& served() {
    static_cast<void>(cluster());
    return *served_home_;
  }

 private:
  void serve(ServedHome::Options options) {
    serving_ = std::make_unique<Context>(make_context(served_));
    auto served = loop_.run(ServedHome::start(*serving_, std::move(options)));
    EXPECT_TRUE(served) << served.error().message;
    served_home_ = std::move(*served);
  }
  Context make_context(const plan::Registry& registry) {
    return {.loop = loop_,
            .pool = pool_,
            .rng = rng_,
            .registry = registry,
            .environment = {},
            .log = Logger::to_descriptor(STDERR_FILENO, Severity::Warning),
            .output = output_,
            .home = home_};
  }

  rt::RealLoop loop_;
  rt::Pool pool_{1};
  SystemRng rng_;
  CapturedOutput output_;
  std::string home_;
  plan::Registry served_;
  plan::Registry known_;
  std::unique_ptr<Context> serving_;
  std::unique_ptr<ServedHome> served_home_;
};

}  // namespace muster::cli
