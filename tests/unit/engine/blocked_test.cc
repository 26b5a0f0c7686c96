#include "engine/blocked.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "builders.h"

namespace muster::engine {
namespace {

using namespace testing;
using namespace std::chrono_literals;
using api::PodPhase;
using plan::Note;
using plan::Phase;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// On its way out, and should be gone since `since`.
PodView stuck(PodView view, const std::string& node = "gpu-7", Time since = kStart) {
  view.deleting = true;
  view.silence = {.node = node, .since = since, .known = since + 30s};
  return view;
}

// Its node's controller has not heard of the node.
PodView unheard(PodView view, const std::string& node = "gpu-7", Time since = kStart) {
  view.silence = {.node = node, .since = since, .known = since};
  return view;
}

PodView worker(int index, PodPhase phase = PodPhase::Running) {
  return pod("Worker", index, phase);
}

std::vector<Note> warnings(const Decision& decision) {
  std::vector<Note> all;
  for (const Note& note : decision.notes) {
    if (note.kind == Note::Kind::Warning) all.push_back(note);
  }
  return all;
}

class Blocked : public ::testing::Test {
 protected:
  Decision look(Time now) {
    Decision decision = decide(plan_, observed_, now);
    observed_.ledger = decision.verdict.ledger;
    return decision;
  }
  [[nodiscard]] std::vector<std::string> nodes() const {
    std::vector<std::string> all;
    for (const auto& [name, node] : observed_.ledger.blocked)
      all.push_back(name + ": " + node.ranks_text());
    return all;
  }

  plan::Plan plan_ = JobBuilder().workers(3).all_workers_decide().restart_in_place().build();
  Observed observed_ = begun();
};

TEST_F(Blocked, APodThatShouldBeGoneNamesItsNodeAndIsNotMadeAnew) {
  observed_.pods = {worker(0), stuck(worker(1)), worker(2)};
  const Decision early = look(kStart + 29s);
  EXPECT_THAT(nodes(), IsEmpty());
  EXPECT_EQ(early.wake_at, kStart + 30s) << "somebody has to look then";
  const Decision late = look(kStart + 30s);
  EXPECT_THAT(nodes(), ElementsAre("gpu-7: Worker 1"));
  EXPECT_EQ(observed_.ledger.blocked.at("gpu-7").since, kStart);
  EXPECT_EQ(late.verdict.waiting_for, "node gpu-7 to answer");
  EXPECT_THAT(late.wave, IsEmpty()) << "two of a rank must never live at once";
  EXPECT_EQ(late.verdict.phase, Phase::Running);
}

TEST_F(Blocked, IsSaidOnceWithWhatHelps) {
  observed_.pods = {worker(0), stuck(worker(1)), stuck(worker(2))};
  const Decision first = look(kStart + 1min);
  ASSERT_THAT(warnings(first), SizeIs(1));
  const Note note = warnings(first)[0];
  EXPECT_EQ(note.reason, "BlockedOnNode");
  EXPECT_EQ(note.subject, "gpu-7");
  EXPECT_THAT(note.detail, HasSubstr("gpu-7 has not answered since 2027-01-15T08:00:00Z"));
  EXPECT_THAT(note.detail, HasSubstr("only if that machine is known to be off"));
  EXPECT_THAT(note.detail, HasSubstr("kubectl delete pods -n ml -l "));
  EXPECT_THAT(note.detail, HasSubstr("spec.nodeName=gpu-7 --force"));
  EXPECT_THAT(warnings(look(kStart + 2min)), IsEmpty());
}

TEST_F(Blocked, IsNamedNoMoreOnceItIsResolvedAndSaidAgainTheNextTime) {
  observed_.pods = {worker(0), stuck(worker(1)), worker(2)};
  look(kStart + 1min);
  observed_.pods.erase(observed_.pods.begin() + 1);
  const Decision resolved = look(kStart + 2min);
  EXPECT_THAT(nodes(), IsEmpty());
  EXPECT_THAT(resolved.verdict.waiting_for, IsEmpty());
  EXPECT_THAT(created_pods(resolved), ElementsAre("bert-worker-1"));
  observed_.pods.push_back(stuck(worker(1), "gpu-7", kStart + 1h));
  EXPECT_THAT(warnings(look(kStart + 2h)), SizeIs(1));
}

TEST_F(Blocked, ANodeThatIsBackTakesItsPodsOffTheList) {
  observed_.pods = {worker(0), unheard(worker(1)), worker(2)};
  EXPECT_THAT(look(kStart).wave, IsEmpty());
  EXPECT_THAT(nodes(), ElementsAre("gpu-7: Worker 1"));
  observed_.pods[1].silence.reset();
  look(kStart + 1s);
  EXPECT_THAT(nodes(), IsEmpty());
}

TEST_F(Blocked, RanksAreSortedByNodeAndTheFirstTimeStays) {
  observed_.pods = {unheard(worker(0), "b", kStart + 2s), stuck(worker(1), "a", kStart + 3s),
                    unheard(worker(2), "b", kStart + 1s)};
  look(kStart + 1min);
  EXPECT_THAT(nodes(), ElementsAre("a: Worker 1", "b: Worker 0,2"));
  EXPECT_EQ(observed_.ledger.blocked.at("b").since, kStart + 1s);
  observed_.pods[2].silence.reset();
  look(kStart + 2min);
  EXPECT_EQ(observed_.ledger.blocked.at("b").since, kStart + 1s);
}

TEST_F(Blocked, WhoHasJustBegunToLookLetsNodesAnswerFirst) {
  observed_.first_look = kStart + 1h;
  observed_.pods = {worker(0), stuck(worker(1)), worker(2)};
  EXPECT_EQ(look(kStart + 1h).wake_at, kStart + 1h + 10s);
  EXPECT_THAT(nodes(), IsEmpty());
  look(kStart + 1h + 10s);
  EXPECT_THAT(nodes(), SizeIs(1));
  observed_.first_look = kStart + 2h;  // another process, after this one
  look(kStart + 2h);
  EXPECT_THAT(nodes(), SizeIs(1)) << "what is known stays known";
}

TEST_F(Blocked, AlsoOfAJobThatHasEndedIsHeldFrozenOrDeleted) {
  observed_.pods = {stuck(worker(1))};
  Observed ended = observed_;
  ended.ledger.phase = Phase::Failed;
  EXPECT_THAT(decide(plan_, ended, kStart + 1min).verdict.ledger.blocked, SizeIs(1));
  const auto held = JobBuilder().workers(3).suspended().build();
  EXPECT_THAT(decide(held, observed_, kStart + 1min).verdict.ledger.blocked, SizeIs(1));
  EXPECT_THAT(decide_frozen(plan_.job, observed_, kStart + 1min).verdict.ledger.blocked, SizeIs(1));
  observed_.deleting = true;
  EXPECT_THAT(decide(plan_, observed_, kStart + 1min).verdict.ledger.blocked, SizeIs(1));
}

TEST_F(Blocked, TheStatusIsBounded) {
  plan_ = JobBuilder().workers(10'000).restart_in_place().build();
  for (int i = 0; i < 10'000; ++i)
    observed_.pods.push_back(stuck(worker(i), "node-" + std::to_string(i % 100)));
  look(kStart + 1min);
  EXPECT_THAT(nodes(), SizeIs(plan::kMostBlockedNodes));
  EXPECT_THAT(plan::blocked_to_json(observed_.ledger.blocked).as_array(),
              SizeIs(plan::kMostBlockedNodes));
}

}  // namespace
}  // namespace muster::engine
