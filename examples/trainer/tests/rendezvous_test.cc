#include "trainer/rendezvous.h"

#include <algorithm>

#include <gtest/gtest.h>

namespace muster::trainer {
namespace {

using Effects = Rendezvous::Effects;
using Steps = std::vector<std::uint64_t>;

constexpr std::uint64_t kSession = 42;

Registration worker(const std::string& node_id, Steps steps = {}) {
  return {.node_id = node_id,
          .endpoint = {.address = "10.0.0.1", .port = 1000},
          .digest = 1,
          .steps = std::move(steps)};
}

// The last thing said to a connection, if it parses; tests read answers the way workers do.
std::optional<SchedulerMessage> told(const Effects& effects, Rendezvous::ConnectionId connection) {
  std::optional<SchedulerMessage> message;
  for (const auto& outgoing : effects.send) {
    if (outgoing.to == connection && !outgoing.line.empty()) {
      message = parse_scheduler_message(outgoing.line).value();
    }
  }
  return message;
}

template <class Message>
Message told_as(const Effects& effects, Rendezvous::ConnectionId connection) {
  const auto message = told(effects, connection);
  EXPECT_TRUE(message && std::holds_alternative<Message>(*message)) << "connection " << connection;
  return message && std::holds_alternative<Message>(*message) ? std::get<Message>(*message)
                                                              : Message{};
}

bool lets_go(const Effects& effects, Rendezvous::ConnectionId connection) {
  return std::ranges::any_of(effects.send, [connection](const auto& outgoing) {
    return outgoing.to == connection && outgoing.is_last;
  });
}

// Three workers registered on connections 1 to 3; `effects` is what the last registration caused.
struct Trio {
  Rendezvous rendezvous{3, kSession};
  Effects effects;

  explicit Trio(Steps a = {}, Steps b = {}, Steps c = {}) {
    EXPECT_TRUE(rendezvous.on_registration(1, worker("w-10", std::move(a))).send.empty());
    EXPECT_TRUE(rendezvous.on_registration(2, worker("w-2", std::move(b))).send.empty());
    effects = rendezvous.on_registration(3, worker("w-1", std::move(c)));
  }
};

TEST(RendezvousTest, StartsWhenAllAreThereWithRanksInTheOrderOfTheirNames) {
  const Trio trio;
  EXPECT_EQ(told_as<Start>(trio.effects, 3).rank, 0u);
  EXPECT_EQ(told_as<Start>(trio.effects, 2).rank, 1u);
  const Start last = told_as<Start>(trio.effects, 1);
  EXPECT_EQ(last.rank, 2u);
  EXPECT_EQ(last.generation, 1u);
  EXPECT_EQ(last.session, kSession);
  ASSERT_EQ(last.peers.size(), 3u);
  EXPECT_EQ(last.peers[2].node_id, "w-10");
}

TEST(RendezvousTest, ResumesAtTheGreatestCommonStep) {
  EXPECT_EQ(told_as<Start>(Trio({50, 100}, {100, 150}, {100, 150}).effects, 1).resume_step, 100u);
  EXPECT_EQ(told_as<Start>(Trio({50, 100}, {}, {50, 100}).effects, 1).resume_step, 0u);
  EXPECT_EQ(told_as<Start>(Trio({50}, {100}, {150}).effects, 1).resume_step, 0u);
}

TEST(RendezvousTest, ALossEndsTheGenerationAndNamesTheLost) {
  Trio trio;
  const Effects effects = trio.rendezvous.on_closed(2);
  EXPECT_EQ(told_as<Lost>(effects, 1).node_id, "w-2");
  EXPECT_EQ(told_as<Lost>(effects, 3).node_id, "w-2");
  EXPECT_TRUE(lets_go(effects, 1) && lets_go(effects, 3));
  EXPECT_FALSE(told(effects, 2));
  EXPECT_TRUE(trio.rendezvous.on_closed(1).send.empty());
}

TEST(RendezvousTest, TheNextGenerationFormsFromScratch) {
  Trio trio;
  static_cast<void>(trio.rendezvous.on_closed(2));
  EXPECT_TRUE(trio.rendezvous.on_registration(4, worker("w-2", {50})).send.empty());
  EXPECT_TRUE(trio.rendezvous.on_registration(5, worker("w-1", {50})).send.empty());
  const Effects effects = trio.rendezvous.on_registration(6, worker("w-10", {50}));
  EXPECT_EQ(told_as<Start>(effects, 6).generation, 2u);
  EXPECT_EQ(told_as<Start>(effects, 6).resume_step, 50u);
}

TEST(RendezvousTest, AMemberThatRegistersAnewEndsTheGenerationAndJoinsTheNext) {
  Trio trio;
  const Effects effects = trio.rendezvous.on_registration(4, worker("w-2"));
  EXPECT_EQ(told_as<Lost>(effects, 1).node_id, "w-2");
  EXPECT_EQ(told_as<Lost>(effects, 2).node_id, "w-2");  // its old process, should it still live
  EXPECT_FALSE(told(effects, 4));
  static_cast<void>(trio.rendezvous.on_registration(5, worker("w-1")));
  EXPECT_EQ(told_as<Start>(trio.rendezvous.on_registration(6, worker("w-10")), 4).generation, 2u);
}

TEST(RendezvousTest, WhileGatheringTheNewestProcessOfANodeCounts) {
  Rendezvous rendezvous(2, kSession);
  static_cast<void>(rendezvous.on_registration(1, worker("w-0")));
  EXPECT_TRUE(lets_go(rendezvous.on_registration(2, worker("w-0")), 1));
  const Effects effects = rendezvous.on_registration(3, worker("w-1"));
  EXPECT_FALSE(told(effects, 1));
  EXPECT_EQ(told_as<Start>(effects, 2).rank, 0u);
}

TEST(RendezvousTest, WhileGatheringALossConcernsNobodyElse) {
  Rendezvous rendezvous(2, kSession);
  static_cast<void>(rendezvous.on_registration(1, worker("w-0")));
  EXPECT_TRUE(rendezvous.on_closed(1).send.empty());
  EXPECT_TRUE(rendezvous.on_registration(2, worker("w-1")).send.empty());
}

TEST(RendezvousTest, OneWorkerTooManyIsRejected) {
  Trio trio;
  const Effects effects = trio.rendezvous.on_registration(4, worker("w-3"));
  EXPECT_NE(told_as<Rejected>(effects, 4).reason.find("w-3 is one too many"), std::string::npos);
  EXPECT_TRUE(lets_go(effects, 4));
  EXPECT_FALSE(told(effects, 1));
}

TEST(RendezvousTest, OtherHyperparametersAreRejected) {
  Rendezvous rendezvous(2, kSession);
  static_cast<void>(rendezvous.on_registration(1, worker("w-0")));
  Registration other = worker("w-1");
  other.digest = 2;
  EXPECT_NE(told_as<Rejected>(rendezvous.on_registration(2, other), 2).reason.find("same flags"),
            std::string::npos);
  EXPECT_TRUE(told(rendezvous.on_registration(3, worker("w-1")), 3));
}

TEST(RendezvousTest, FinishesWhenTheLastWorkerIsDone) {
  Trio trio;
  EXPECT_TRUE(trio.rendezvous.on_done(1, {1}).send.empty());
  EXPECT_TRUE(trio.rendezvous.on_done(2, {1}).send.empty());
  EXPECT_TRUE(trio.rendezvous.on_done(2, {1}).send.empty());  // said twice, counted once
  EXPECT_FALSE(trio.rendezvous.is_finished());
  const Effects effects = trio.rendezvous.on_done(3, {1});
  for (const Rendezvous::ConnectionId connection : {1u, 2u, 3u}) {
    told_as<Finished>(effects, connection);
    EXPECT_TRUE(lets_go(effects, connection));
  }
  EXPECT_TRUE(trio.rendezvous.is_finished());
}

TEST(RendezvousTest, AWorkerThatDiesAfterItIsDoneStillEndsTheGeneration) {
  Trio trio;
  static_cast<void>(trio.rendezvous.on_done(1, {1}));
  EXPECT_EQ(told_as<Lost>(trio.rendezvous.on_closed(1), 2).node_id, "w-10");
}

TEST(RendezvousTest, TheLastWordOfAnAbandonedGenerationIsIgnored) {
  Rendezvous rendezvous(1, kSession);
  static_cast<void>(rendezvous.on_registration(1, worker("w-0")));
  static_cast<void>(rendezvous.on_closed(1));
  static_cast<void>(rendezvous.on_registration(2, worker("w-0")));
  EXPECT_TRUE(rendezvous.on_done(1, {1}).send.empty());
  EXPECT_TRUE(rendezvous.on_done(2, {1}).send.empty());
  EXPECT_FALSE(rendezvous.is_finished());
  told_as<Finished>(rendezvous.on_done(2, {2}), 2);
}

TEST(RendezvousTest, WhoComesAfterTheEndIsToldSo) {
  Rendezvous rendezvous(1, kSession);
  static_cast<void>(rendezvous.on_registration(1, worker("w-0")));
  static_cast<void>(rendezvous.on_done(1, {1}));
  told_as<Finished>(rendezvous.on_registration(2, worker("w-0")), 2);
}

TEST(RendezvousTest, RegisteringTwiceOnOneConnectionCostsIt) {
  Trio trio;
  const Effects effects = trio.rendezvous.on_registration(1, worker("w-10"));
  EXPECT_TRUE(lets_go(effects, 1));
  EXPECT_EQ(told_as<Lost>(effects, 2).node_id, "w-10");
}

}  // namespace
}  // namespace muster::trainer
