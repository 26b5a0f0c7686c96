#include "cli/verbs/verbs.h"
#include "log_files.h"
#include "rt/scope.h"
#include "verb_fixture.h"

// `logs -f` of ranks of this machine: the test plays the cluster and what the ranks write.
namespace muster::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class FollowLogs : public VerbTest {
 public:
  FollowLogs() : toy_(kind("Toy", "toy.dev")) {
    create(toy_, "bert", json::Object{{"state", "GOING"}});
    uid_ = uid_of(toy_, "bert");
  }

  // A rank that has this log; it runs as long as its job does.
  Task<void> start_rank(int index, std::string log) {
    json::Value pod = rank(uid_, index);
    const json::Value status = pod["status"];
    const auto made = co_await cluster().create(api::pods(), std::move(pod));
    EXPECT_TRUE(made) << made.error().message;
    if (!made) co_return;
    directories_[index] = "default_" + api::name_of(**made) + "_" + api::uid_of(**made);
    write(index, log);
    json::Value changed = **made;
    changed["status"] = status;
    EXPECT_TRUE(co_await cluster().update_status(api::pods(), std::move(changed)));
  }
  void write(int index, const std::string& log) {
    append_log(home(), directories_[index], "main/0.log", log);
  }
  const std::string& directory(int index) { return directories_[index]; }
  Task<void> end_job() { return store_status(toy_, "bert", json::Object{{"state", "DONE"}}); }
  // Until it was printed.
  Task<void> shown(std::string text) {
    for (int i = 0; i < 2000 && output().out.find(text) == std::string::npos; ++i)
      static_cast<void>(co_await rt::sleep_for(loop(), std::chrono::milliseconds(5)));
    EXPECT_THAT(output().out, HasSubstr(text));
  }

  using Story = std::function<Task<void>()>;
  Outcome follow(LogsOptions options, const Story& story = {}) {
    options.name = "bert";
    options.follow = true;
    options.prefix = false;
    rt::TaskScope scope(loop());
    if (story) scope.spawn(story());
    const Outcome seen = outcome([&](Context& context) { return logs(context, options); });
    loop().run(scope.close());
    return seen;
  }

 private:
  static json::Value rank(const std::string& job_uid, int index) {
    json::Value made =
        pod(fmt::format("bert-rank-{}", index), json::Object{{"running", json::Object{}}});
    made["spec"]["nodeName"] = "here";
    made["metadata"]["labels"] =
        json::Object{{std::string(plan::labels::kJobUid), job_uid},
                     {std::string(plan::labels::kRole), "Rank"},
                     {std::string(plan::labels::kIndex), std::to_string(index)}};
    return made;
  }

  const ToyKind& toy_;
  std::string uid_;
  std::map<int, std::string> directories_;
};

TEST_F(FollowLogs, OfAFinishedJobAreAllLinesEachTime) {
  loop().run(start_rank(0, record(1, "a") + record(2, "b")));
  loop().run(end_job());
  for (int i = 0; i < 20; ++i) {
    const Outcome seen = follow({});
    EXPECT_EQ(seen.code, 0) << seen.err;
    ASSERT_EQ(seen.out, "a\nb\n") << i;
  }
}

TEST_F(FollowLogs, GoOnUntilTheEnd) {
  loop().run(start_rank(0, record(1, "a")));
  const Outcome seen = follow({}, [this]() -> Task<void> {
    co_await shown("a\n");
    write(0, record(2, "b"));
    co_await shown("b\n");
    // Its last line and its end at once.
    write(0, record(3, "c"));
    co_await end_job();
  });
  EXPECT_EQ(seen.out, "a\nb\nc\n");
}

TEST_F(FollowLogs, HaveTheirTimes) {
  loop().run(start_rank(0, record(1, "a")));
  const Outcome seen = follow({.timestamps = true}, [this]() -> Task<void> {
    co_await shown("a\n");
    write(0, record(2, "b"));
    co_await end_job();
  });
  EXPECT_EQ(seen.out, "2026-11-15T03:04:01.000000000Z a\n2026-11-15T03:04:02.000000000Z b\n");
}

TEST_F(FollowLogs, TheTailIsOfWhatWasThereBefore) {
  loop().run(start_rank(0, record(1, "a") + record(2, "b")));
  const Outcome seen = follow({.tail = 1}, [this]() -> Task<void> {
    co_await shown("b\n");
    write(0, record(3, "c") + record(4, "d"));
    co_await shown("d\n");
    co_await start_rank(1, record(5, "e") + record(6, "f"));
    co_await shown("f\n");
    co_await end_job();
  });
  EXPECT_EQ(seen.out, "b\nc\nd\ne\nf\n");
}

TEST_F(FollowLogs, WhatCannotBeReadIsSaidOnce) {
  loop().run(start_rank(0, ""));
  const std::string path = home() + "/logs/" + directory(0) + "/main/0.log";
  std::filesystem::remove(path);
  std::filesystem::create_directory(path);
  const Outcome seen = follow({}, [this]() -> Task<void> {
    while (output().err.empty())
      static_cast<void>(co_await rt::sleep_for(loop(), std::chrono::milliseconds(5)));
    co_await end_job();
  });
  EXPECT_EQ(seen.code, 1);
  EXPECT_THAT(seen.err, StartsWith("error: the logs of Rank 0 cannot be read: "));
  EXPECT_EQ(seen.err.find("error:", 1), std::string::npos) << seen.err;
}

TEST_F(FollowLogs, EndWhenNobodyReadsThem) {
  loop().run(start_rank(0, record(1, "a")));
  const Outcome seen = follow({}, [this]() -> Task<void> {
    co_await shown("a\n");
    output().broken();
  });
  EXPECT_EQ(seen.code, 0);
}

}  // namespace
}  // namespace muster::cli
