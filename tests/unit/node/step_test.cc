#include "node/pod/step.h"

#include "unit/node/fixture.h"

// A pod's life as a table: where it stands, what came about, what follows.
namespace muster::node {
namespace {

constexpr Time kNow = Time{} + std::chrono::seconds(1'800'000'000);

// --- states and actions as words

std::string seconds_text(Duration duration) {
  return fmt::format("{}s", std::chrono::duration_cast<std::chrono::seconds>(duration).count());
}

struct StateText {
  std::string operator()(const Unprepared& s) const {
    const auto wait = s.not_before > kNow ? " in " + seconds_text(s.not_before - kNow) : "";
    return s.failures == 0 ? "Unprepared" : fmt::format("Unprepared after {}{}", s.failures, wait);
  }
  std::string operator()(const Preparing& s) const {
    return s.failures == 0 ? "Preparing" : fmt::format("Preparing after {}", s.failures);
  }
  std::string operator()(const Prepared&) const { return "Prepared"; }
  std::string operator()(const Reporting& s) const {
    return fmt::format("Reporting {}", api::to_string(s.phase));
  }
  std::string operator()(const Abandoning&) const { return "Abandoning"; }
  std::string operator()(const TearingDown&) const { return "TearingDown"; }
  std::string operator()(const TornDown&) const { return "TornDown"; }
  std::string operator()(const Leaving&) const { return "Leaving"; }
  std::string operator()(const Done&) const { return "Done"; }
  std::string operator()(const Unknown&) const { return "Unknown"; }
};

struct ActionText {
  std::string operator()(const Prepare&) const { return "prepare"; }
  std::string operator()(const KillSandbox&) const { return "kill sandbox"; }
  std::string operator()(const StartContainer& a) const {
    return fmt::format("start {}/{}", a.name, a.attempt);
  }
  std::string operator()(const StopContainer& a) const {
    return fmt::format("stop {}/{} in {}", a.name, a.attempt, seconds_text(a.grace));
  }
  std::string operator()(const StopAll& a) const { return "stop all in " + seconds_text(a.grace); }
  std::string operator()(const GiveRoom&) const { return "give room"; }
  std::string operator()(const AnnounceFailure& a) const { return "announce " + a.failure.reason; }
  std::string operator()(const TearDown&) const { return "tear down"; }
  std::string operator()(const RemoveFromApi&) const { return "remove"; }
  std::string operator()(const Finish&) const { return "finish"; }
};

std::string actions_text(const PodStep& step) {
  std::vector<std::string> words;
  for (const auto& action : step.actions) words.push_back(std::visit(ActionText{}, action));
  return join(words, ", ");
}

// --- pods

using Role = ContainerFacts::Role;

ContainerFacts fresh(const char* name, Role role = Role::Main) {
  return {.name = name, .role = role};
}
ContainerFacts running(const char* name, Role role = Role::Main) {
  return {
      .name = name, .role = role, .state = Running{.started = kNow - 10s}, .startup_passed = true};
}
ContainerFacts ended(const char* name, int code, Duration ago = 100s, Role role = Role::Main) {
  return {.name = name,
          .role = role,
          .state = Ending{.exit_code = code, .started = kNow - ago - 1s, .finished = kNow - ago},
          .quick_ends = 1};
}
ContainerFacts ended_often(const char* name, Duration ago) {
  auto out = ended(name, 1, ago);
  out.quick_ends = 2;
  return out;
}
ContainerFacts held(const char* name, Duration more) {
  auto out = fresh(name);
  out.hold = Hold{.reason = "ContainerCreating", .retry_at = kNow + more};
  return out;
}

PodFacts facts(std::vector<ContainerFacts> containers,
               ContainerRestartPolicy policy = ContainerRestartPolicy::Never) {
  return {.containers = std::move(containers), .restart_policy = policy, .start_time = kNow - 60s};
}
PodFacts with_sandbox(PodFacts out) {
  out.sandbox = true;
  return out;
}
PodFacts forgotten(PodFacts out) {
  out.forgotten = true;
  return out;
}
PodFacts stopping(PodFacts out) {
  out.stopping = true;
  return out;
}
PodFacts settled(PodFacts out, api::PodPhase phase) {
  out.settled = phase;
  return out;
}

constexpr const char* kPlain = R"({"metadata":{},"spec":{}})";
constexpr const char* kDeleted =
    R"({"metadata":{"deletionTimestamp":"2027-01-15T08:00:00Z","deletionGracePeriodSeconds":5}})";
constexpr const char* kGrace = R"({"spec":{"terminationGracePeriodSeconds":7}})";

struct Row {
  const char* name;
  PodState state;
  PodFacts known;
  PodEvent event = Changed{};
  const char* pod = kPlain;
  bool reported = false;
  // what follows
  const char* next = "";
  const char* actions = "";
  std::optional<Duration> wake_in{};
};

PodStep take(const Row& row) {
  const BackOffOptions back_off;
  const auto pod = parse(row.pod);
  return step(row.state, row.known, row.event,
              {.pod = pod, .back_off = back_off, .reported = row.reported, .now = kNow});
}

void check(const std::vector<Row>& rows) {
  for (const auto& row : rows) {
    SCOPED_TRACE(row.name);
    const auto result = take(row);
    EXPECT_EQ(std::visit(StateText{}, result.next), row.next);
    EXPECT_EQ(actions_text(result), row.actions);
    EXPECT_EQ(result.wake_at.has_value(), row.wake_in.has_value());
    if (result.wake_at && row.wake_in) EXPECT_EQ(*result.wake_at - kNow, *row.wake_in);
  }
}

constexpr auto kAlways = ContainerRestartPolicy::Always;

PodFacts evicted(PodFacts out) {
  out.failure = {.reason = kEvictedReason};
  return stopping(std::move(out));
}

TEST(PodStep, Eviction) {
  const PodEvent evict = Evicted{.message = "too much"};
  check({
      {.name = "ends at once and gives back what it took",
       .state = Prepared{},
       .known = with_sandbox(facts({running("a")}, kAlways)),
       .event = evict,
       .pod = kGrace,
       .next = "Prepared",
       .actions = "announce Evicted, give room, stop all in 0s"},
      {.name = "also while it is being prepared",
       .state = Preparing{},
       .known = facts({fresh("a")}),
       .event = evict,
       .next = "Preparing",
       .actions = "announce Evicted, give room, stop all in 0s"},
      {.name = "an eviction of an earlier life goes on",
       .state = Prepared{},
       .known = evicted(with_sandbox(facts({running("a")}, kAlways))),
       .next = "Prepared",
       .actions = "give room, stop all in 0s"},
      {.name = "with its last container it has failed, whatever the policy",
       .state = Prepared{},
       .known = evicted(with_sandbox(facts({ended("a", 0)}, kAlways))),
       .next = "Reporting Failed",
       .actions = "give room, stop all in 0s"},
      {.name = "what is over is not evicted",
       .state = Reporting{.phase = api::PodPhase::Succeeded},
       .known = with_sandbox(facts({ended("a", 0)})),
       .event = evict,
       .next = "Reporting Succeeded"},
  });
}

TEST(PodStep, Preparation) {
  check({
      {.name = "a container whose turn it is needs a sandbox",
       .state = Unprepared{},
       .known = facts({fresh("a")}),
       .next = "Preparing",
       .actions = "prepare"},
      {.name = "nothing starts before it is prepared",
       .state = Preparing{},
       .known = facts({fresh("a")}),
       .next = "Preparing"},
      {.name = "an adopted sandbox is prepared anew, so that its volumes are known",
       .state = Unprepared{},
       .known = with_sandbox(facts({running("a")})),
       .next = "Preparing",
       .actions = "prepare"},
      {.name = "also when everything ended meanwhile: it is taken down in order",
       .state = Unprepared{},
       .known = with_sandbox(facts({ended("a", 0)})),
       .next = "Preparing",
       .actions = "prepare"},
      {.name = "prepared, its containers start",
       .state = Preparing{},
       .known = facts({fresh("a"), fresh("b")}),
       .event = PreparationDone{},
       .next = "Prepared",
       .actions = "start a/0, start b/0"},
      {.name = "and what held them is forgotten",
       .state = Preparing{.failures = 2},
       .known = facts({held("a", 5s)}),
       .event = PreparationDone{},
       .next = "Prepared",
       .actions = "start a/0"},
      {.name = "a failure is tried again after a second",
       .state = Preparing{},
       .known = facts({fresh("a")}),
       .event = PreparationFailed{"no"},
       .next = "Unprepared after 1 in 1s",
       .wake_in = 1s},
      {.name = "the fourth after eight",
       .state = Preparing{.failures = 3},
       .known = facts({fresh("a")}),
       .event = PreparationFailed{"no"},
       .next = "Unprepared after 4 in 8s",
       .wake_in = 8s},
      {.name = "never later than after thirty",
       .state = Preparing{.failures = 40},
       .known = facts({fresh("a")}),
       .event = PreparationFailed{"no"},
       .next = "Unprepared after 41 in 30s",
       .wake_in = 30s},
      {.name = "not before its time",
       .state = Unprepared{.failures = 1, .not_before = kNow + 1s},
       .known = with_sandbox(facts({running("a")})),
       .next = "Unprepared after 1 in 1s",
       .wake_in = 1s},
      {.name = "then with the failures counted",
       .state = Unprepared{.failures = 1, .not_before = kNow},
       .known = facts({fresh("a")}),
       .next = "Preparing after 1",
       .actions = "prepare"},
      {.name = "what it waits for may be there: at once",
       .state = Unprepared{.failures = 3, .not_before = kNow + 20s},
       .known = facts({held("a", 20s)}),
       .event = Poked{},
       .next = "Preparing after 3",
       .actions = "prepare"},
      {.name = "a cancelled one of a pod that goes on begins again",
       .state = Preparing{.failures = 2},
       .known = facts({fresh("a")}),
       .event = PreparationCancelled{},
       .next = "Preparing after 2",
       .actions = "prepare"},
      {.name = "a sandbox that died is made again",
       .state = Prepared{},
       .known = with_sandbox(facts({held("a", 10s)})),
       .event = SandboxLost{},
       .next = "Preparing",
       .actions = "prepare",
       .wake_in = 10s},
      {.name = "a late word of a sandbox that is being made changes nothing",
       .state = Preparing{.failures = 1},
       .known = facts({fresh("a")}),
       .event = SandboxLost{},
       .next = "Preparing after 1"},
  });
}

TEST(PodStep, Containers) {
  check({
      {.name = "what runs goes on",
       .state = Prepared{},
       .known = with_sandbox(facts({running("a")})),
       .next = "Prepared"},
      {.name = "the next attempt has the next number",
       .state = Prepared{},
       .known = with_sandbox(facts({ended("a", 1)}, kAlways)),
       .next = "Prepared",
       .actions = "start a/1"},
      {.name = "not before its back-off is over",
       .state = Prepared{},
       .known = with_sandbox(facts({ended_often("a", 4s)}, kAlways)),
       .next = "Prepared",
       .wake_in = 6s},
      {.name = "but then",
       .state = Prepared{},
       .known = with_sandbox(facts({ended_often("a", 10s)}, kAlways)),
       .next = "Prepared",
       .actions = "start a/1"},
      {.name = "init containers first, one after the other",
       .state = Prepared{},
       .known = with_sandbox(facts({fresh("i", Role::Init), fresh("j", Role::Init), fresh("a")})),
       .next = "Prepared",
       .actions = "start i/0"},
      {.name = "a sidecar that nobody needs is stopped",
       .state = Prepared{},
       .known = with_sandbox(facts({running("s", Role::Sidecar), ended("a", 0)})),
       .pod = kGrace,
       .next = "Prepared",
       .actions = "stop s/0 in 7s"},
      {.name = "everything over: told first",
       .state = Prepared{},
       .known = with_sandbox(facts({ended("a", 0)})),
       .next = "Reporting Succeeded"},
      {.name = "an init container that failed for good ends the pod",
       .state = Prepared{},
       .known = with_sandbox(facts({ended("i", 1, 100s, Role::Init), fresh("a")})),
       .next = "Reporting Failed"},
      {.name = "the hold of a container is waited for",
       .state = Prepared{},
       .known = with_sandbox(facts({held("a", 9s)})),
       .next = "Prepared",
       .wake_in = 9s},
      {.name = "unless it is poked",
       .state = Prepared{},
       .known = with_sandbox(facts({held("a", 9s)})),
       .event = Poked{},
       .next = "Prepared",
       .actions = "start a/0"},
  });
}

TEST(PodStep, DeletionAndDeadlines) {
  check({
      {.name = "deleted: stopped in the time that the deletion gives",
       .state = Prepared{},
       .known = with_sandbox(facts({running("a")})),
       .pod = kDeleted,
       .next = "Prepared",
       .actions = "stop all in 5s"},
      {.name = "deleted before anything ran: nothing to stop, nothing to prepare",
       .state = Unprepared{},
       .known = facts({fresh("a")}),
       .pod = kDeleted,
       .next = "Reporting Pending",
       .actions = "stop all in 5s"},
      {.name = "deleted while it is being prepared: that ends first",
       .state = Preparing{},
       .known = facts({fresh("a")}),
       .pod = kDeleted,
       .next = "Preparing",
       .actions = "stop all in 5s"},
      {.name = "and then it is over",
       .state = Preparing{},
       .known = stopping(facts({fresh("a")})),
       .event = PreparationCancelled{},
       .pod = kDeleted,
       .next = "Reporting Pending",
       .actions = "stop all in 5s"},
      {.name = "a negative grace period is none",
       .state = Prepared{},
       .known = with_sandbox(facts({running("a")})),
       .pod = R"({"metadata":{"deletionTimestamp":"2027-01-15T08:00:00Z",
                  "deletionGracePeriodSeconds":-1}})",
       .next = "Prepared",
       .actions = "stop all in 0s"},
      {.name = "a grace period beyond all time is a hundred years",
       .state = Prepared{},
       .known = with_sandbox(facts({running("a")})),
       .pod = R"({"metadata":{"deletionTimestamp":"2027-01-15T08:00:00Z",
                  "deletionGracePeriodSeconds":9223372036854775807}})",
       .next = "Prepared",
       .actions = "stop all in 3153600000s"},
      {.name = "a deadline that is not reached",
       .state = Prepared{},
       .known = with_sandbox(facts({running("a")})),
       .pod = R"({"spec":{"activeDeadlineSeconds":61}})",
       .next = "Prepared",
       .wake_in = 1s},
      {.name = "one that is reached fails the pod",
       .state = Prepared{},
       .known = with_sandbox(facts({running("a")})),
       .pod = R"({"spec":{"activeDeadlineSeconds":60,"terminationGracePeriodSeconds":7}})",
       .next = "Prepared",
       .actions = "announce DeadlineExceeded, stop all in 7s"},
      {.name = "the default grace period is thirty seconds",
       .state = Prepared{},
       .known = with_sandbox(facts({running("a")})),
       .pod = R"({"spec":{"activeDeadlineSeconds":1}})",
       .next = "Prepared",
       .actions = "announce DeadlineExceeded, stop all in 30s"},
      {.name = "a deadline beyond all time is not now",
       .state = Prepared{},
       .known = with_sandbox(facts({running("a")})),
       .pod = R"({"spec":{"activeDeadlineSeconds":9999999999}})",
       .next = "Prepared",
       .wake_in = seconds_saturating(9'999'999'999) - 60s},
      {.name = "what stops already does not fail once more",
       .state = Prepared{},
       .known = with_sandbox(stopping(facts({running("a")}))),
       .pod = R"({"spec":{"activeDeadlineSeconds":1}})",
       .next = "Prepared"},
      {.name = "a deadline counts while it is being prepared",
       .state = Preparing{},
       .known = facts({fresh("a")}),
       .pod = R"({"spec":{"activeDeadlineSeconds":1}})",
       .next = "Preparing",
       .actions = "announce DeadlineExceeded, stop all in 30s"},
  });
}

TEST(PodStep, TheEnd) {
  const auto over = with_sandbox(facts({ended("a", 1)}));
  check({
      {.name = "the runtime keeps the exit codes until the API has them",
       .state = Reporting{},
       .known = over,
       .next = "Reporting Failed"},
      {.name = "then it is torn down",
       .state = Reporting{},
       .known = over,
       .reported = true,
       .next = "TearingDown",
       .actions = "tear down"},
      {.name = "an API that forgot it need not be told",
       .state = Reporting{},
       .known = forgotten(over),
       .next = "TearingDown",
       .actions = "tear down"},
      {.name = "once is enough",
       .state = TearingDown{},
       .known = over,
       .pod = kDeleted,
       .next = "TearingDown"},
      {.name = "torn down, it stays in the API",
       .state = TearingDown{},
       .known = over,
       .event = TearDownDone{},
       .next = "TornDown"},
      {.name = "unless it was deleted",
       .state = TearingDown{},
       .known = over,
       .event = TearDownDone{},
       .pod = kDeleted,
       .next = "Leaving",
       .actions = "remove"},
      {.name = "or forgotten",
       .state = TearingDown{},
       .known = forgotten(over),
       .event = TearDownDone{},
       .next = "Done",
       .actions = "finish"},
      {.name = "a later deletion takes it out",
       .state = TornDown{},
       .known = over,
       .pod = kDeleted,
       .next = "Leaving",
       .actions = "remove"},
      {.name = "a later end of the API's memory as well",
       .state = TornDown{},
       .known = forgotten(over),
       .next = "Done",
       .actions = "finish"},
      {.name = "it is asked for once",
       .state = Leaving{},
       .known = over,
       .pod = kDeleted,
       .next = "Leaving"},
      {.name = "removed, nothing is left to do",
       .state = Leaving{},
       .known = over,
       .event = RemovalDone{},
       .next = "Done",
       .actions = "finish"},
      {.name = "done is done",
       .state = Done{},
       .known = forgotten(over),
       .event = RemovalDone{},
       .pod = kDeleted,
       .next = "Done"},
      {.name = "a pod that had ended before we came is only cleared away",
       .state = Unprepared{},
       .known = settled(with_sandbox(facts({ended("a", 0)})), api::PodPhase::Succeeded),
       .next = "Reporting Succeeded"},
  });
}

TEST(PodStep, AForgottenPodEndsAtOnce) {
  check({
      {.name = "running",
       .state = Prepared{},
       .known = forgotten(with_sandbox(facts({running("a")}))),
       .next = "TearingDown",
       .actions = "tear down"},
      {.name = "not prepared",
       .state = Unprepared{.failures = 3, .not_before = kNow + 9s},
       .known = forgotten(facts({fresh("a")})),
       .next = "TearingDown",
       .actions = "tear down"},
      {.name = "being prepared: that must end first",
       .state = Preparing{},
       .known = forgotten(facts({fresh("a")})),
       .next = "Abandoning",
       .actions = "kill sandbox"},
      {.name = "which is waited for",
       .state = Abandoning{},
       .known = forgotten(facts({fresh("a")})),
       .next = "Abandoning"},
      {.name = "whether it succeeds",
       .state = Abandoning{},
       .known = forgotten(facts({fresh("a")})),
       .event = PreparationDone{},
       .next = "TearingDown",
       .actions = "tear down"},
      {.name = "fails",
       .state = Abandoning{},
       .known = forgotten(facts({fresh("a")})),
       .event = PreparationFailed{"no"},
       .next = "TearingDown",
       .actions = "tear down"},
      {.name = "or is cancelled",
       .state = Abandoning{},
       .known = forgotten(facts({fresh("a")})),
       .event = PreparationCancelled{},
       .next = "TearingDown",
       .actions = "tear down"},
  });
}

TEST(PodStep, AnUnknownPodWaitsForItsDeletion) {
  check({
      {.name = "nothing is started",
       .state = Unknown{},
       .known = facts({fresh("a")}, kAlways),
       .next = "Unknown"},
      {.name = "whatever it is poked with",
       .state = Unknown{},
       .known = facts({fresh("a")}, kAlways),
       .event = Poked{},
       .next = "Unknown"},
      {.name = "no deadline ends it: what would be said of its containers?",
       .state = Unknown{},
       .known = facts({fresh("a")}),
       .pod = R"({"spec":{"activeDeadlineSeconds":1}})",
       .next = "Unknown"},
      {.name = "its deletion does",
       .state = Unknown{},
       .known = facts({fresh("a")}),
       .pod = kDeleted,
       .next = "TearingDown",
       .actions = "tear down"},
      {.name = "and so does an API without it",
       .state = Unknown{},
       .known = forgotten(facts({fresh("a")})),
       .next = "TearingDown",
       .actions = "tear down"},
  });
}

// What a step changes in the facts.

TEST(PodStep, AStartIsUnderWayFromTheStepOn) {
  const auto first = take({.name = "", .state = Prepared{}, .known = facts({fresh("a")})});
  EXPECT_TRUE(first.facts.find("a")->starting);
  const auto second = take({.name = "", .state = first.next, .known = first.facts});
  EXPECT_TRUE(second.actions.empty()) << "and is not begun twice";
}

TEST(PodStep, AFailedPreparationHoldsWhatHasNotBegun) {
  const auto result = take({.name = "",
                            .state = Preparing{},
                            .known = facts({running("a"), ended("b", 0), fresh("c")}),
                            .event = PreparationFailed{"no disk"}});
  EXPECT_FALSE(result.facts.find("a")->hold);
  EXPECT_FALSE(result.facts.find("b")->hold);
  ASSERT_TRUE(result.facts.find("c")->hold);
  EXPECT_EQ(result.facts.find("c")->hold->message, "no disk");
  EXPECT_EQ(result.facts.find("c")->hold->retry_at, kNow + 1s);
}

TEST(PodStep, OnlyAFinalPhaseIsSettled) {
  for (const auto& [phase, expected] :
       {std::pair(api::PodPhase::Failed, true), std::pair(api::PodPhase::Succeeded, true),
        std::pair(api::PodPhase::Pending, false)}) {
    const auto result = take({.name = "",
                              .state = Reporting{.phase = phase},
                              .known = facts({fresh("a")}),
                              .reported = true});
    EXPECT_EQ(result.facts.settled.has_value(), expected);
  }
}

TEST(PodStep, NothingStartsInAPodThatStops) {
  for (const char* pod : {kDeleted, R"({"spec":{"activeDeadlineSeconds":1}})"}) {
    const auto result = take({.name = "",
                              .state = Prepared{},
                              .known = with_sandbox(facts({running("a"), ended("b", 1)}, kAlways)),
                              .pod = pod});
    EXPECT_TRUE(result.facts.stopping);
    EXPECT_EQ(actions_text(result).find("start"), std::string::npos);
  }
}

TEST(PodStep, TheDeadlineIsTheFailure) {
  const auto result = take({.name = "",
                            .state = Prepared{},
                            .known = with_sandbox(facts({running("a")})),
                            .pod = R"({"spec":{"activeDeadlineSeconds":1}})"});
  ASSERT_TRUE(result.facts.failure);
  EXPECT_EQ(result.facts.failure->reason, "DeadlineExceeded");
}

TEST(PodStep, NoSandboxIsLeftOfAPodThatWasTornDown) {
  const auto result = take({.name = "",
                            .state = TearingDown{},
                            .known = with_sandbox(facts({ended("a", 0)})),
                            .event = TearDownDone{}});
  EXPECT_FALSE(result.facts.sandbox);
}

}  // namespace
}  // namespace muster::node
