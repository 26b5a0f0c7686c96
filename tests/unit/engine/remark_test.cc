#include "engine/ending/remark.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "builders.h"
#include "engine/decide.h"

namespace muster::engine {
namespace {

using namespace testing;
using api::PodPhase;
using plan::Note;
using plan::Phase;
using ::testing::Contains;
using ::testing::IsEmpty;
using ::testing::Not;

// Its first worker decides, and may leave a remark.
plan::Plan launching() {
  plan::Plan plan = JobBuilder().workers(1).first_worker_decides().build();
  plan.roles[0].remarks = true;
  return plan;
}

Observed ended(int exit_code, const std::string& message) {
  Observed observed = begun();
  observed.pods = {
      pod("Worker", 0, exit_code == 0 ? PodPhase::Succeeded : PodPhase::Failed, exit_code)};
  observed.pods[0].containers[0].message = message;
  return observed;
}

auto warning(const std::string& detail) {
  return ::testing::AllOf(::testing::Field(&Note::kind, Note::Kind::Warning),
                          ::testing::Field(&Note::detail, detail));
}

struct Message {
  std::string name;
  std::string left;
  std::string remark;
  std::string rest;
};

TEST(Remark, IsTheFirstLineThatBeginsAsOne) {
  const std::vector<Message> cases = {
      {"nothing", "", "", ""},
      {"somebody else's words", "all is well\n", "", "all is well\n"},
      {"a line alone", "muster: host a ran no rank", "host a ran no rank", ""},
      {"a line among others", "lost\nmuster: host a ran no rank\nbye", "host a ran no rank",
       "lost\nbye"},
      {"only the first of two", "muster: one\nmuster: two", "one", "muster: two"},
      {"not in the middle of a line", "see muster: one", "", "see muster: one"},
      {"escapes are not for terminals", "muster: a\x1b[31mb", "a?[31mb", ""},
  };
  for (const Message& c : cases) {
    const Decision decision = decide(launching(), ended(0, c.left), kStart);
    EXPECT_EQ(decision.verdict.phase, Phase::Succeeded) << c.name;
    EXPECT_EQ(decision.verdict.remark, c.remark) << c.name;
    EXPECT_EQ(without_remark(c.left), c.rest) << c.name;
    if (c.remark.empty()) {
      EXPECT_THAT(decision.notes,
                  Not(Contains(::testing::Field(&Note::kind, Note::Kind::Warning))));
    } else {
      EXPECT_THAT(decision.notes, Contains(warning(c.remark)).Times(1)) << c.name;
    }
  }
}

TEST(Remark, DoesNotChangeHowTheJobEndsAndIsNoPartOfTheCause) {
  const Decision decision =
      decide(launching(), ended(3, "bad\nmuster: 2 ranks failed on host a"), kStart);
  EXPECT_EQ(decision.verdict.phase, Phase::Failed);
  EXPECT_EQ(decision.verdict.remark, "2 ranks failed on host a");
  EXPECT_EQ(decision.verdict.cause->text, "bad");
  EXPECT_EQ(decision.verdict.cause->exit_code, 3);
}

TEST(Remark, OutlivesThePodThatMadeItAndIsSaidOnce) {
  const plan::Plan plan = launching();
  Observed observed = ended(0, "muster: host a ran no rank");
  observed.ledger =
      plan::Ledger::from_json(decide(plan, observed, kStart).verdict.ledger.to_json());
  observed.pods.clear();
  const Decision later = decide(plan, observed, kStart);
  EXPECT_EQ(later.verdict.remark, "host a ran no rank");
  EXPECT_THAT(later.notes, IsEmpty());
}

TEST(Remark, IsHeardFromRolesThatRemarkOnly) {
  plan::Plan plan = launching();
  plan.roles[0].remarks = false;
  const Decision decision = decide(plan, ended(3, "muster: host a ran no rank"), kStart);
  EXPECT_EQ(decision.verdict.remark, "");
  EXPECT_EQ(decision.verdict.cause->text, "muster: host a ran no rank");
}

}  // namespace
}  // namespace muster::engine
