#include <fcntl.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

#include "cli/plane/link.h"
#include "cli/plane/log_file.h"
#include "cli/plane/plane_cluster.h"
#include "cli/plane/settings.h"
#include "cli/plane/take_over.h"
#include "net/http_client.h"
#include "verb_fixture.h"

// How commands share the control plane of a home: who may, who is told what, and when it goes.
namespace muster::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class PlaneTest : public ::testing::Test {
 protected:
  PlaneTest() {
    char path[] = "/tmp/muster-cli.XXXXXX";
    home_ = ::mkdtemp(path);
    context_ = std::make_unique<Context>(make_context());
  }
  ~PlaneTest() override { std::filesystem::remove_all(home_); }

  Context make_context() {
    return {.loop = loop_,
            .pool = pool_,
            .rng = rng_,
            .registry = registry_,
            .environment = {},
            .log = {},
            .output = output_,
            .home = home_};
  }
  void serve(ServedHome::Options options) {
    auto served = loop_.run(ServedHome::start(*context_, std::move(options)));
    ASSERT_TRUE(served) << served.error().message;
    served_ = std::move(*served);
  }
  void end() { loop_.run(served_->close()); }
  Result<void> open(PlaneLink& link) { return loop_.run(link.open(PlaneLink::WhenAbsent::Refuse)); }
  std::vector<std::string> leave(PlaneLink& link) { return loop_.run(link.leave()); }

  rt::RealLoop loop_;
  rt::Pool pool_{1};
  SystemRng rng_;
  CapturedOutput output_;
  plan::Registry registry_;
  std::string home_;
  std::unique_ptr<Context> context_;
  std::unique_ptr<ServedHome> served_;
};

TEST_F(PlaneTest, NobodyIsThere) {
  PlaneLink link(*context_);
  const auto opened = open(link);
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, ErrorCode::NotFound);
  EXPECT_THAT(leave(link), IsEmpty());
}

TEST_F(PlaneTest, ATemporaryOneIsOverWithItsLastSession) {
  serve({.temporary = true, .settings = runner_settings(*context_)});
  PlaneLink first(*context_);
  PlaneLink second(*context_);
  ASSERT_TRUE(open(first));
  ASSERT_TRUE(open(second));
  EXPECT_TRUE(first.temporary());
  served_->unfinished = {"default/bert"};
  EXPECT_THAT(leave(first), IsEmpty()) << "whoever is still there has it in hand";
  EXPECT_FALSE(served_->sessions().over().is_set());
  EXPECT_THAT(leave(second), ElementsAre("default/bert"));
  EXPECT_FALSE(served_->sessions().over().is_set());
  served_->unfinished.clear();
  served_->sessions().look_again();
  EXPECT_TRUE(served_->sessions().over().is_set());
  end();
}

TEST_F(PlaneTest, AClientThatIsKilledIsForgotten) {
  serve({.temporary = true});
  net::HttpClient http(loop_, net::unix_connector(loop_, socket_path(home_)));
  auto session = loop_.run(http.open({.method = "POST", .target = "/muster/sessions"}));
  ASSERT_TRUE(session) << session.error().message;
  ASSERT_TRUE(loop_.run((*session)->next()));  // it is greeted
  served_->sessions().look_again();
  EXPECT_FALSE(served_->sessions().over().is_set());
  session->reset();
  loop_.run(http.close());
  EXPECT_TRUE(loop_.run(
      rt::with_timeout(loop_, std::chrono::seconds(10), served_->sessions().over().wait())));
  end();
}

TEST_F(PlaneTest, WhoStartedItHoldsItUntilItIsReleased) {
  serve({.temporary = true});
  served_->sessions().hold_for_starter();
  served_->sessions().look_again();
  EXPECT_FALSE(served_->sessions().over().is_set());
  served_->sessions().release_starter();
  EXPECT_TRUE(served_->sessions().over().is_set());
  end();
}

TEST_F(PlaneTest, OneThatIsOverTakesNoSession) {
  serve({.temporary = true});
  served_->sessions().look_again();
  PlaneLink link(*context_);
  // The home is still owned, so it waits for the next owner.
  const auto opened = loop_.run(rt::with_timeout(loop_, std::chrono::milliseconds(50),
                                                 link.open(PlaneLink::WhenAbsent::Refuse)));
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, ErrorCode::Timeout);
  leave(link);
  end();
}

TEST_F(PlaneTest, OneThatIsKeptUpStays) {
  serve({.temporary = false});
  PlaneLink link(*context_);
  ASSERT_TRUE(open(link));
  EXPECT_FALSE(link.temporary());
  served_->unfinished = {"default/bert"};
  EXPECT_THAT(leave(link), IsEmpty());
  EXPECT_FALSE(served_->sessions().over().is_set());
  end();
}

TEST_F(PlaneTest, OtherFlagsAreRefused) {
  context_->capacity = {{"nvidia.com/gpu", 4}};
  serve({.temporary = true, .settings = runner_settings(*context_)});
  {
    PlaneLink same(*context_);
    EXPECT_TRUE(open(same));
    served_->unfinished = {"default/bert"};
    leave(same);
  }
  context_->capacity = {{"nvidia.com/gpu", 8}};
  PlaneLink other(*context_);
  const auto refused = open(other);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("were not given the same --capacity"));
  leave(other);
  context_->capacity.clear();
  PlaneLink none(*context_);
  EXPECT_TRUE(open(none));
  leave(none);
  end();
}

TEST_F(PlaneTest, FlagsAreForTheOneThatIsKeptUp) {
  context_->agent_image = "mine";
  serve({.temporary = false, .settings = runner_settings(*context_)});
  PlaneLink link(*context_);
  const auto refused = open(link);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("give --agent-image to it"));
  leave(link);
  end();
}

TEST_F(PlaneTest, AFailureEndsTheWorkOfThoseWhoUseIt) {
  serve({.temporary = false});
  auto target = loop_.run(OpenCluster::open(*context_, PlaneParts::All));
  ASSERT_TRUE(target) << target.error().message;
  const auto fail_it = [](Sessions& sessions) -> Task<void> {
    co_await sessions.finish(Error{.code = ErrorCode::Io, .message = "the disk is full"});
  };
  rt::TaskScope scope(loop_);
  scope.spawn(fail_it(served_->sessions()));
  const auto for_ever = [](rt::Loop& loop) -> Task<bool> {
    co_return (co_await rt::sleep_for(loop, std::chrono::hours(1))).has_value();
  };
  EXPECT_FALSE(loop_.run((*target)->guard(for_ever(loop_))));
  ASSERT_TRUE((*target)->failure());
  EXPECT_THAT((*target)->failure()->message, HasSubstr("the disk is full"));
  loop_.run((*target)->close());
  loop_.run(scope.close());
  end();
}

TEST_F(PlaneTest, WorkGoesOnWithTheNextPlane) {
  // Ours all the time, so that the command does not start a plane in between.
  const auto lock = server::HomeLock::take(home_);
  ASSERT_TRUE(lock);
  serve({.temporary = false, .lock = *lock->share()});
  auto target = loop_.run(OpenCluster::open(*context_, PlaneParts::All));
  ASSERT_TRUE(target) << target.error().message;
  end();
  served_.reset();
  const json::Value map =
      json::Object{{"metadata", json::Object{{"generateName", "map-"}, {"namespace", "default"}}}};
  serve({.temporary = false, .lock = *lock->share()});
  const auto made = loop_.run((*target)->cluster().create(api::config_maps(), map));
  ASSERT_TRUE(made) << made.error().message;
  const auto maps = loop_.run((*target)->cluster().list(api::config_maps(), {}));
  ASSERT_TRUE(maps);
  EXPECT_EQ(maps->items.size(), 1U);
  loop_.run((*target)->close());
  end();
}

TEST_F(PlaneTest, OneWhoseHomeWasMovedIsGivenUp) {
  serve({.temporary = false});
  auto target = loop_.run(OpenCluster::open(*context_, PlaneParts::All));
  ASSERT_TRUE(target) << target.error().message;
  std::filesystem::rename(socket_path(home_), home_ + "/moved");
  const auto watch = [](cluster::Cluster& cluster) -> Task<bool> {
    while (!co_await cluster.list(api::config_maps(), {})) {
      if ((co_await rt::current_stop()).stop_requested()) co_return false;
    }
    co_return true;
  };
  EXPECT_FALSE(loop_.run((*target)->guard(watch((*target)->cluster()))));
  ASSERT_TRUE((*target)->failure());
  EXPECT_THAT((*target)->failure()->message, HasSubstr("cannot be reached any more"));
  loop_.run((*target)->close());
  end();
}

// A plane that was killed may have done what it did not say: it is asked again, and that counts
// once.
TEST_F(PlaneTest, WhatWasDoneUnheardIsDone) {
  serve({.temporary = false});
  auto target = loop_.run(OpenCluster::open(*context_, PlaneParts::All));
  ASSERT_TRUE(target) << target.error().message;
  cluster::Cluster& cluster = (*target)->cluster();
  served_->lose_answers(1);
  const auto made = loop_.run(cluster.create(
      api::config_maps(), json::Object{{"metadata", json::Object{{"generateName", "map-"},
                                                                 {"namespace", "default"}}}}));
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(loop_.run(cluster.list(api::config_maps(), {.where = {.ns = "default"}}))->items.size(),
            1U);
  served_->lose_answers(1);
  const auto gone = loop_.run(
      cluster.remove(api::config_maps(), api::key_of(**made), {.uid = api::uid_of(**made)}));
  EXPECT_TRUE(gone) << gone.error().message;
  EXPECT_EQ(loop_.run(cluster.list(api::config_maps(), {.where = {.ns = "default"}}))->items.size(),
            0U);
  loop_.run((*target)->close());
  end();
}

TEST_F(PlaneTest, ATemporaryOneStepsAside) {
  serve({.temporary = true});
  PlaneLink link(*context_);
  ASSERT_TRUE(open(link));
  const auto wait_and_end = [](ServedHome& served) -> Task<void> {
    [[maybe_unused]] const auto over = co_await served.sessions().over().wait();
    co_await served.sessions().finish(std::nullopt);
    co_await served.close();
  };
  rt::TaskScope scope(loop_);
  scope.spawn(wait_and_end(*served_));
  auto lock = loop_.run(take_over(*context_));
  ASSERT_TRUE(lock) << lock.error().message;
  loop_.run(scope.join());
  // The command waits for the one that takes over, and does not mind that it is another.
  serve({.temporary = false, .lock = *lock->share()});
  EXPECT_TRUE(loop_.run(link.ready()));
  leave(link);
  end();
}

TEST_F(PlaneTest, TwoAreNotKeptUpInOneHome) {
  serve({.temporary = false});
  const auto lock = loop_.run(take_over(*context_));
  ASSERT_FALSE(lock);
  EXPECT_THAT(lock.error().message, HasSubstr("is in use by process"));
  EXPECT_FALSE(served_->sessions().over().is_set()) << "who came first stays";
  end();
}

std::string text_of(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

TEST_F(PlaneTest, ItsLogIsBounded) {
  const int before = ::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0);
  const std::string path = home_ + "/plane.log";
  {
    const Logger log = log_to_file(path, Severity::Info, 1000);
    for (int i = 0; i < 100; ++i) log.named("test").info("line {}", i);
    log.debug("not this one");
  }
  ::dup2(before, STDERR_FILENO);
  ::close(before);
  EXPECT_THAT(text_of(path), HasSubstr("INFO test: line 99\n"));
  EXPECT_LT(text_of(path).size() + text_of(path + ".old").size(), 2200U);
  EXPECT_GT(text_of(path + ".old").size(), 1000U);
  EXPECT_THAT(text_of(path), ::testing::Not(HasSubstr("not this one")));
}

}  // namespace
}  // namespace muster::cli
