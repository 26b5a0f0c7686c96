#include <csignal>
#include <filesystem>

#include "api/object.h"
#include "cli/verbs/verbs.h"
#include "log_files.h"
#include "rt/scope.h"
#include "rt/wait.h"
#include "verb_fixture.h"

// `logs` of what runs: from the files of this machine, and through the API of a cluster.
namespace muster::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

class FollowLogs : public VerbTest {
 public:
  using VerbTest::cluster;
  using VerbTest::home;
  using VerbTest::loop;
  using VerbTest::output;
  using VerbTest::store_status;

  void SetUp() override { create(toy_, "bert", json::Object{{"state", "GOING"}}); }

  // A rank that runs on this machine.
  void start_rank(int index) {
    json::Value made = rank(toy_, "bert", index);
    made["spec"]["nodeName"] = "box";
    create(api::pods(), made);
  }
  void write(int index, const std::string& bytes) {
    const std::string name = fmt::format("bert-rank-{}", index);
    const auto found = loop().run(cluster().get(api::pods(), {.ns = "default", .name = name}));
    ASSERT_TRUE(found);
    directories_[index] = fmt::format("default_{}_{}", name, api::uid_of(**found));
    append(index, bytes);
  }
  // The same once it was written to.
  void append(int index, const std::string& bytes) {
    append_log(home(), directories_[index], "main/0.log", bytes);
  }
  Outcome logs_of(LogsOptions options) {
    return outcome([&](Context& context) { return logs(context, options); });
  }
  Outcome follow(LogsOptions options, std::function<Task<void>(FollowLogs&)> story) {
    options.follow = true;
    rt::TaskScope scope(loop());
    scope.spawn(story(*this));
    const Outcome seen = logs_of(options);
    loop().run(scope.close());
    return seen;
  }
  // Until that was printed.
  Task<void> until(std::string text) {
    for (int i = 0; i < 5000 && output().out.find(text) == std::string::npos; ++i)
      if (!co_await rt::sleep_for(loop(), std::chrono::milliseconds(1))) co_return;
    EXPECT_THAT(output().out, HasSubstr(text));
  }
  Task<void> end(std::string state) {
    co_await store_status(toy_, "bert", json::Object{{"state", std::move(state)}});
  }

  [[nodiscard]] std::string log_path(int index) {
    return home() + "/logs/" + directories_[index] + "/main/0.log";
  }

  const ToyKind& toy_ = kind("Toy", "toy.dev");
  json::Value later_;  // a pod

 private:
  std::map<int, std::string> directories_;
};

TEST_F(FollowLogs, WhatIsThereWhatComesAndThenTheEnd) {
  start_rank(0);
  start_rank(1);
  write(0, record(1, "zero a") + record(3, "zero b"));
  write(1, record(2, "one a"));
  const auto story = [](FollowLogs& it) -> Task<void> {
    co_await it.until("zero b\n");
    it.append(1, record(4, "one b"));
    co_await it.until("one b\n");
    it.append(0, record(5, "zero la", 'P'));
    it.append(0, record(5, "st"));
    co_await it.end("DONE");
  };
  const Outcome seen = follow({.name = "bert", .prefix = false}, story);
  EXPECT_EQ(seen.code, exit_code::kOk) << seen.err;
  EXPECT_EQ(seen.out, "zero a\none a\nzero b\none b\nzero last\n");
}

TEST_F(FollowLogs, OfAFinishedJobAreAllLinesEachTime) {
  start_rank(0);
  write(0, record(1, "a") + record(2, "b"));
  loop().run(end("DONE"));
  for (int i = 0; i < 20; ++i) {
    const Outcome seen =
        follow({.name = "bert", .prefix = false}, [](FollowLogs&) -> Task<void> { co_return; });
    EXPECT_EQ(seen.code, exit_code::kOk) << seen.err;
    ASSERT_EQ(seen.out, "a\nb\n") << i;
  }
}

TEST_F(FollowLogs, HaveTheirTimes) {
  start_rank(0);
  write(0, record(1, "a"));
  const auto story = [](FollowLogs& it) -> Task<void> {
    co_await it.until("a\n");
    it.append(0, record(2, "b"));
    co_await it.end("DONE");
  };
  EXPECT_EQ(follow({.name = "bert", .timestamps = true, .prefix = false}, story).out,
            "2026-11-15T03:04:01.000000000Z a\n2026-11-15T03:04:02.000000000Z b\n");
}

TEST_F(FollowLogs, WhatCannotBeReadIsSaidOnce) {
  start_rank(0);
  write(0, "");
  std::filesystem::remove(log_path(0));
  std::filesystem::create_directory(log_path(0));
  const auto story = [](FollowLogs& it) -> Task<void> {
    while (it.output().err.empty()) {
      if (!co_await rt::sleep_for(it.loop(), std::chrono::milliseconds(5))) co_return;
    }
    co_await it.end("DONE");
  };
  const Outcome seen = follow({.name = "bert"}, story);
  EXPECT_EQ(seen.code, exit_code::kFailed);
  EXPECT_THAT(seen.err, StartsWith("error: the logs of Rank 0 cannot be read: "));
  EXPECT_EQ(seen.err.find("error:", 1), std::string::npos) << seen.err;
}

TEST_F(FollowLogs, ARankThatComesLaterIsFollowedToo) {
  start_rank(0);
  write(0, record(1, "zero"));
  const auto story = [](FollowLogs& it) -> Task<void> {
    co_await it.until("zero\n");
    json::Value made = it.later_;
    const auto created = co_await it.cluster().create(api::pods(), made);
    EXPECT_TRUE(created);
    json::Value with_status = **created;
    with_status["status"] = std::as_const(made)["status"];
    EXPECT_TRUE(co_await it.cluster().update_status(api::pods(), with_status));
    append_log(it.home(), "default_bert-rank-1_" + api::uid_of(**created), "main/0.log",
               record(2, "one"));
    co_await it.until("one\n");
    co_await it.end("DONE");
  };
  later_ = rank(toy_, "bert", 1);
  later_["spec"]["nodeName"] = "box";
  const Outcome seen = follow({.name = "bert"}, story);
  EXPECT_EQ(seen.code, exit_code::kOk) << seen.err;
  EXPECT_THAT(seen.out, AllOf(HasSubstr("r0 | zero\n"), HasSubstr("r1 | one\n")));
}

TEST_F(FollowLogs, CtrlCEndsTheFollowingAndNotTheJob) {
  start_rank(0);
  write(0, record(1, "zero"));
  const auto story = [](FollowLogs& it) -> Task<void> {
    co_await it.until("zero\n");
    static_cast<void>(std::raise(SIGINT));
  };
  const Outcome seen = follow({.name = "bert"}, story);
  EXPECT_EQ(seen.code, exit_code::kOk);
  EXPECT_EQ(seen.err, "still running — muster delete bert to stop\n");
  EXPECT_TRUE(exists(toy_, "bert"));
}

TEST_F(FollowLogs, AReaderThatGoesAwayEndsItWithoutAWord) {
  start_rank(0);
  write(0, record(1, "zero"));
  const auto story = [](FollowLogs& it) -> Task<void> {
    co_await it.until("zero\n");
    it.output().broken();
  };
  const Outcome seen = follow({.name = "bert"}, story);
  EXPECT_EQ(seen.code, exit_code::kOk);
  EXPECT_THAT(seen.err, IsEmpty());
}

TEST_F(FollowLogs, AJobThatIsDeletedEndsIt) {
  start_rank(0);
  write(0, record(1, "zero"));
  const auto story = [](FollowLogs& it) -> Task<void> {
    co_await it.until("zero\n");
    EXPECT_TRUE(co_await it.cluster().remove(it.toy_.identity().resource,
                                             {.ns = "default", .name = "bert"}, {}));
  };
  EXPECT_EQ(follow({.name = "bert", .prefix = false}, story).out, "zero\n");
}

TEST_F(FollowLogs, TailIsOfWhatIsThere) {
  start_rank(0);
  write(0, record(1, "a") + record(2, "b") + record(3, "c"));
  const auto story = [](FollowLogs& it) -> Task<void> {
    co_await it.until("c\n");
    it.append(0, record(4, "d") + record(5, "e"));
    co_await it.until("e\n");
    co_await it.end("DONE");
  };
  EXPECT_EQ(follow({.name = "bert", .tail = 1, .prefix = false}, story).out, "c\nd\ne\n");
}

TEST_F(FollowLogs, NothingYetIsSaid) {
  const Outcome none = logs_of({.name = "bert"});
  EXPECT_EQ(none.code, exit_code::kOk);
  EXPECT_EQ(none.err, "bert has not written anything yet\n");
  const Outcome previous = logs_of({.name = "bert", .previous = true});
  EXPECT_EQ(previous.code, exit_code::kFailed);
  EXPECT_EQ(previous.err, "error: no container of bert was started again\n");
  start_rank(0);
  const Outcome container = logs_of({.name = "bert", .container = "sidecar"});
  EXPECT_EQ(container.code, exit_code::kFailed);
  EXPECT_EQ(container.err, "error: no pod of bert has a container sidecar\n");
}

// The nodes of a cluster: what each container wrote, and whether its log can be read at all.
class NodeLogs final : public server::LogSource {
 public:
  class Stream final : public server::LogStream {
   public:
    explicit Stream(std::string text) : text_(std::move(text)) {}
    Task<Result<std::optional<std::string>>> next() override {
      if (text_.empty()) co_return std::optional<std::string>();
      co_return std::optional(std::exchange(text_, {}));
    }

   private:
    std::string text_;
  };
  Task<Result<std::unique_ptr<server::LogStream>>> open(server::ObjectPtr pod,
                                                        server::LogOptions options) override {
    if (refusal) co_return fail(*refusal);
    const std::string& lines = (options.previous ? before : now)[api::name_of(*pod)];
    co_return std::make_unique<Stream>(lines);
  }
  std::map<std::string, std::string> now;  // by pod: TIME LINE
  std::map<std::string, std::string> before;
  std::optional<Error> refusal;
};

class ClusterLogs : public FollowLogs {
 public:
  void SetUp() override {
    FollowLogs::SetUp();
    core().set_log_source(&nodes_);
  }
  void TearDown() override { core().set_log_source(nullptr); }

  static std::string line(int second, const std::string& text) {
    return fmt::format("2026-11-15T03:04:{:02}.000000000Z {}\n", second, text);
  }
  Outcome logs_there(LogsOptions options) {
    return outcome([&](Context& context) {
      context.kubeconfig = kubeconfig();
      return logs(context, options);
    });
  }
  Outcome follow_there(LogsOptions options, std::function<Task<void>(ClusterLogs&)> story) {
    options.follow = true;
    rt::TaskScope scope(loop());
    scope.spawn(story(*this));
    const Outcome seen = logs_there(options);
    loop().run(scope.close());
    return seen;
  }
  Task<void> end_rank(int index) {
    const auto pod = co_await cluster().get(
        api::pods(), {.ns = "default", .name = fmt::format("bert-rank-{}", index)});
    EXPECT_TRUE(pod);
    json::Value ended = **pod;
    ended["status"]["phase"] = "Succeeded";
    ended["status"]["containerStatuses"] = json::Array{json::Object{
        {"name", "main"}, {"state", json::Object{{"terminated", json::Object{{"exitCode", 0}}}}}}};
    EXPECT_TRUE(co_await cluster().update_status(api::pods(), ended));
  }
  NodeLogs nodes_;
};

TEST_F(ClusterLogs, RanksAreMergedByTime) {
  start_rank(0);
  start_rank(1);
  nodes_.now["bert-rank-0"] = line(1, "zero a") + line(3, "zero b");
  nodes_.now["bert-rank-1"] = line(2, "one a");
  const Outcome seen = logs_there({.name = "bert"});
  EXPECT_EQ(seen.code, exit_code::kOk) << seen.err;
  EXPECT_EQ(seen.out, "r0 | zero a\nr1 | one a\nr0 | zero b\n");
  EXPECT_EQ(logs_there({.name = "bert", .filter = {.ranks = {1}}}).out, "r1 | one a\n");
}

TEST_F(ClusterLogs, FollowedUntilTheJobEnds) {
  start_rank(0);
  nodes_.now["bert-rank-0"] = line(1, "zero");
  const auto story = [](ClusterLogs& it) -> Task<void> {
    co_await it.until("zero\n");
    it.nodes_.now["bert-rank-0"] += line(2, "last");
    co_await it.end_rank(0);
    co_await it.until("last\n");
    co_await it.end("DONE");
  };
  const Outcome seen = follow_there({.name = "bert", .prefix = false}, story);
  EXPECT_EQ(seen.code, exit_code::kOk) << seen.err;
  EXPECT_EQ(seen.out, "zero\nlast\n");
}

TEST_F(ClusterLogs, WhatCannotBeReadIsSaidOnceWithTheRemedy) {
  start_rank(0);
  start_rank(1);
  nodes_.refusal = Error{.code = ErrorCode::Internal,
                         .message = "dial tcp 10.0.0.1:10250: connect: connection refused"};
  const Outcome seen = logs_there({.name = "bert"});
  EXPECT_EQ(seen.code, exit_code::kFailed);
  EXPECT_EQ(seen.out, "");
  EXPECT_EQ(seen.err,
            "error: the logs of Rank 0, Rank 1 cannot be read: dial tcp 10.0.0.1:10250: connect: "
            "connection refused\n"
            "  the node does not serve logs: a muster node does when it is started with "
            "--client-ca FILE, the CA of the API server's kubelet client certificate\n");
}

TEST_F(ClusterLogs, WithoutPodsThereIsNothingToRead) {
  const Outcome seen = logs_there({.name = "bert"});
  EXPECT_EQ(seen.code, exit_code::kFailed);
  EXPECT_THAT(seen.err, HasSubstr("error: bert has no pods: it has none yet, or they were cleaned "
                                  "up and took their logs with them"));
}

TEST_F(ClusterLogs, TheRunBeforeTheLast) {
  json::Value made = rank(toy_, "bert", 0);
  made["spec"]["nodeName"] = "box";
  json::Value status = std::as_const(made)["status"]["containerStatuses"][0];
  status["restartCount"] = 1;
  made["status"]["containerStatuses"] = json::Array{status};
  create(api::pods(), made);
  nodes_.now["bert-rank-0"] = line(2, "second run");
  nodes_.before["bert-rank-0"] = line(1, "first run");
  EXPECT_EQ(logs_there({.name = "bert", .previous = true, .prefix = false}).out, "first run\n");
}

}  // namespace
}  // namespace muster::cli
