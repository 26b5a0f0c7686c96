#include "controller/recorder.h"

#include "fixture.h"

namespace muster::controller {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class RecorderTest : public InMemory {
 protected:
  RecorderTest() {
    scope_.spawn(recorder_.run());
    loop_.drain();
  }
  ~RecorderTest() override { loop_.run(scope_.close()); }

  void say(const std::string& message, const std::string& subject = "train-worker-0",
           Recorder::About about = Recorder::About::Lasting) {
    recorder_.record(identity(), job_, {.reason = "Why", .message = message}, subject, about);
  }
  std::vector<std::string> written() {
    std::vector<std::string> messages;
    for (const auto& event : all(api::events()))
      messages.push_back((*event)["message"].as_string());
    std::ranges::sort(messages);
    return messages;
  }

  const plan::JobRef job_{.resource = jobs(), .ns = "default", .name = "train", .uid = "u1"};
  bool busy_ = false;
  bool leader_ = true;
  Recorder recorder_{loop_,
                     *cluster_,
                     rng_,
                     Logger(),
                     {.busy = [this] { return busy_; }, .may_write = [this] { return leader_; }}};
  rt::TaskScope scope_{loop_};
};

TEST_F(RecorderTest, WritesAnEventAboutTheJob) {
  say("hello");
  loop_.run_for(1s);
  const auto events = all(api::events());
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ((*events[0])["involvedObject"]["uid"].as_string(), "u1");
  EXPECT_EQ((*events[0])["reason"].as_string(), "Why");
  EXPECT_EQ((*events[0])["type"].as_string(), "Normal");
}

TEST_F(RecorderTest, WhatHappensTwiceIsSaidTwice) {
  for (int i = 0; i < 2; ++i) say("a", "train-worker-0", Recorder::About::Happening);
  loop_.run_for(1s);
  EXPECT_THAT(written(), ElementsAre("a", "a"));
}

TEST_F(RecorderTest, WhatLastsIsSaidOnceUntilItsTextChanges) {
  say("a");
  say("a");
  say("b");
  say("a");
  say("a", "train-worker-1");
  loop_.run_for(1s);
  EXPECT_THAT(written(), ElementsAre("a", "a", "a", "b"));
}

TEST_F(RecorderTest, ForgetsAJobThatIsGone) {
  say("a");
  recorder_.forget("u1");
  say("a");
  loop_.run_for(1s);
  EXPECT_THAT(written(), ElementsAre("a", "a"));
}

TEST_F(RecorderTest, WaitsWhileThereIsOtherWorkButNotForEver) {
  busy_ = true;
  say("a");
  loop_.run_for(4s);
  EXPECT_THAT(written(), IsEmpty());
  loop_.run_for(2s);
  EXPECT_THAT(written(), ElementsAre("a"));
}

TEST_F(RecorderTest, HoldsABoundedNumberAndCountsTheRest) {
  busy_ = true;
  for (int i = 0; i < 20'005; ++i) say(std::to_string(i), std::to_string(i));
  EXPECT_EQ(recorder_.waiting(), 20'000U);
  EXPECT_EQ(recorder_.dropped(), 5U);
  leader_ = false;  // nobody needs to see them all written
}

TEST_F(RecorderTest, ARefusedEventIsCountedAndNotTriedAgain) {
  const plan::JobRef nowhere{
      .resource = jobs(), .ns = "no-such-namespace", .name = "train", .uid = "u2"};
  recorder_.record(identity(), nowhere, {.reason = "Why", .message = "x"}, "",
                   Recorder::About::Happening);
  say("a");
  loop_.run_for(1min);
  EXPECT_EQ(recorder_.dropped(), 1U);
  EXPECT_THAT(written(), ElementsAre("a"));
}

TEST_F(RecorderTest, WritesNothingOnceTheLeadIsLost) {
  leader_ = false;
  say("a");
  loop_.run_for(1min);
  EXPECT_THAT(written(), IsEmpty());
  EXPECT_EQ(recorder_.waiting(), 0U);
}

TEST_F(RecorderTest, MessagesArePrintableAndBounded) {
  say("\x1b[31m" + std::string(5000, 'x'));
  loop_.run_for(1s);
  const auto messages = written();
  ASSERT_EQ(messages.size(), 1U);
  EXPECT_LE(messages[0].size(), 1024U);
  EXPECT_EQ(messages[0].find('\x1b'), std::string::npos);
}

}  // namespace
}  // namespace muster::controller
