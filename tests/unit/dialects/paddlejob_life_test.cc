// PaddleJobs as they live: their plans in the engine, and what the status and the events say of it.
#include <algorithm>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/children.h"
#include "engine/decide.h"
#include "json/write.h"
#include "paddle_support.h"
#include "support.h"

namespace muster::dialects::test {
namespace {

using api::PodPhase;
using engine::PodView;
using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using namespace std::chrono_literals;

constexpr Time kNow = Time(std::chrono::seconds(1'800'000'000));

// A job, its pods and objects, and the status that was stored last. Time goes on with every look.
class Life {
 public:
  explicit Life(json::Value job) : job_(std::move(job)), plan_(paddle_plan(job_)) {}

  void edit(json::Value job) {
    job_ = std::move(job);
    job_["metadata"]["generation"] = ++generation_;
    plan_ = paddle_plan(job_);
  }

  // Decides, stores, and does what was decided: all at once, as far as pods and objects go.
  engine::Decision look() {
    now_ += 1s;
    engine::Decision decision = engine::decide(plan_, observed_, now_);
    status_ = paddlejob().status(plan_, status_, decision.verdict, now_);
    observed_.ledger = decision.verdict.ledger;
    for (const auto& note : decision.notes) say(note);
    for (const auto& action : decision.wave) do_it(action);
    return decision;
  }

  void put(const std::string& name, PodPhase phase, const std::string& ip = "") {
    PodView& pod = find(name);
    pod.phase = phase;
    if (!ip.empty()) pod.ip = ip;
    std::optional<int> code;
    if (phase == PodPhase::Succeeded) code = 0;
    if (phase == PodPhase::Failed) code = 3;
    pod.containers = {{.name = "paddle", .running = phase == PodPhase::Running, .exit_code = code}};
  }
  void all_run() {
    int number = 0;
    for (PodView& pod : observed_.pods) {
      put(pod.name, PodPhase::Running, fmt::format("10.0.0.{}", ++number));
    }
  }
  void take_away(const std::string& name) {
    std::erase_if(observed_.pods, [&](const PodView& pod) { return pod.name == name; });
  }

  [[nodiscard]] std::string phase() const { return status_["phase"].as_string(); }
  [[nodiscard]] const json::Value& status() const { return status_; }
  [[nodiscard]] const std::vector<std::string>& events() const { return events_; }
  engine::Observed& observed() { return observed_; }
  [[nodiscard]] std::vector<std::string> pods() const {
    std::vector<std::string> names;
    for (const PodView& pod : observed_.pods) names.push_back(pod.name);
    std::ranges::sort(names);
    return names;
  }
  [[nodiscard]] const json::Value& config() const { return config_; }

 private:
  PodView& find(const std::string& name) {
    const auto found = std::ranges::find(observed_.pods, name, &PodView::name);
    EXPECT_NE(found, observed_.pods.end()) << name;
    return *found;
  }
  void say(const plan::Note& note) {
    if (const auto text = paddlejob().event_for(plan_.job, note)) {
      events_.push_back(text->reason + ": " + text->message);
    }
  }
  void do_it(const engine::Action& action) {
    if (const auto* pod = std::get_if<engine::CreatePod>(&action)) {
      json::Value body = engine::make_pod(plan_, *pod);
      body["metadata"]["uid"] = fmt::format("uid-{}", ++uids_);
      observed_.pods.push_back(PodView::from(body));
    } else if (const auto* object = std::get_if<engine::CreateObject>(&action)) {
      json::Value body = engine::make_object(plan_, *object);
      const auto& resource = object->object->id.resource;
      if (resource == api::config_maps()) config_ = body["data"];
      observed_.objects.push_back(engine::ObjectView::from(resource, body));
    } else if (const auto* gone = std::get_if<engine::DeletePod>(&action)) {
      take_away(gone->name);
    } else if (const auto* other = std::get_if<engine::DeleteObject>(&action)) {
      if (other->resource == api::config_maps()) config_ = {};
      std::erase_if(observed_.objects, [&](const engine::ObjectView& view) {
        return view.resource == other->resource && view.name == other->name;
      });
    }
  }

  json::Value job_;
  plan::Plan plan_;
  engine::Observed observed_;
  json::Value status_;
  json::Value config_;
  std::vector<std::string> events_;
  Time now_ = kNow;
  int generation_ = 1;
  int uids_ = 0;
};

TEST(PaddleLife, FromPendingOverTheBarrierToCompleted) {
  Life life(paddle("ps: 1, worker: 1"));
  life.look();
  EXPECT_EQ(life.phase(), "Pending");
  life.look();
  EXPECT_EQ(life.status()["ps"]["pending"].as_int(), 1);
  EXPECT_TRUE(life.status()["startTime"].is_null());
  EXPECT_TRUE(life.config().is_null()) << "nobody has an address";

  life.put("j-ps-0", PodPhase::Pending, "10.0.0.1");
  life.look();
  EXPECT_EQ(life.phase(), "Starting");
  EXPECT_TRUE(life.config().is_null()) << "one has";
  EXPECT_EQ(life.status()["ps"]["starting"].as_int(), 1);
  EXPECT_EQ(life.status()["worker"]["pending"].as_int(), 1);

  life.put("j-worker-0", PodPhase::Pending, "10.0.0.2");
  life.look();
  EXPECT_EQ(life.config()["PADDLE_TRAINER_ENDPOINTS"].as_string(), "10.0.0.2:38275");
  EXPECT_EQ(life.config()["PADDLE_PSERVERS_IP_PORT_LIST"].as_string(), "10.0.0.1:38275");

  life.all_run();
  life.look();
  EXPECT_EQ(life.phase(), "Running");
  const std::string started = life.status()["startTime"].as_string();
  EXPECT_FALSE(started.empty());
  EXPECT_EQ(life.status()["mode"].as_string(), "PS");

  life.put("j-worker-0", PodPhase::Succeeded);
  life.look();
  EXPECT_EQ(life.phase(), "Completed");
  EXPECT_EQ(life.status()["startTime"].as_string(), started);
  EXPECT_FALSE(life.status()["completionTime"].is_null());
  EXPECT_EQ(life.status()["ps"]["succeeded"].as_int(), 1) << "it did its part";
  EXPECT_THAT(life.pods(), IsEmpty());
  EXPECT_FALSE(life.config().is_null()) << "the ConfigMap stays";
  EXPECT_THAT(life.events(), ElementsAre("Completed: PaddleJob team/j completed"));
}

TEST(PaddleLife, StatusNamesThePodsOfARole) {
  Life life(paddle("worker: 2"));
  life.look();
  life.look();
  EXPECT_EQ(life.status()["worker"]["refs"],
            parse("[{apiVersion: v1, kind: Pod, namespace: team, name: j-worker-0, uid: uid-1},"
                  " {apiVersion: v1, kind: Pod, namespace: team, name: j-worker-1, uid: uid-2}]"));
  EXPECT_TRUE(life.status()["ps"].is_null());
  EXPECT_EQ(life.status()["mode"].as_string(), "Collective");
  Life alone(paddle("worker: 1"));
  alone.look();
  EXPECT_EQ(alone.status()["mode"].as_string(), "Single");
}

TEST(PaddleLife, TheStatusOfALargeJobFitsAnObject) {
  Life life(paddle("ps: 3000, worker: 4000, heter: 3000"));
  life.look();
  life.look();
  const std::string text = json::write(life.status());
  EXPECT_LT(text.size(), 400U << 10U);
  EXPECT_EQ(life.status()["worker"]["pending"].as_int(), 4000);
  EXPECT_EQ(life.status()["worker"]["refs"].as_array().size(), 500U);
}

TEST(PaddleLife, APhaseThatNobodyDescribesIsKept) {
  Life life(paddle("worker: 2"));
  life.look();
  life.all_run();
  life.look();
  life.put("j-worker-0", PodPhase::Succeeded);
  life.look();
  EXPECT_EQ(life.phase(), "Running");
}

TEST(PaddleLife, ElasticPeersStayWhenOthersComeAndGo) {
  Life life(paddle("worker: 2", "elastic: 1"));
  life.look();
  life.all_run();
  life.look();
  const auto first = life.observed().pods[0].uid;
  life.edit(paddle("worker: 4", "elastic: 1"));
  life.look();
  life.look();
  EXPECT_THAT(life.pods(), ElementsAre("j-worker-0", "j-worker-1", "j-worker-2", "j-worker-3"));
  EXPECT_EQ(life.observed().pods[0].uid, first);
  life.edit(paddle("worker: 3", "elastic: 1"));
  life.look();
  EXPECT_THAT(life.pods(), ElementsAre("j-worker-0", "j-worker-1", "j-worker-2"));
  EXPECT_EQ(life.observed().pods[0].uid, first);
  EXPECT_EQ(life.observed().ledger.epoch, 0);
}

TEST(PaddleLife, AnElasticRankThatTheClusterTookAwayIsMadeAnew) {
  Life life(paddle("worker: 2", "elastic: 1"));
  life.look();
  life.all_run();
  life.look();
  life.put("j-worker-1", PodPhase::Failed);
  life.observed().pods[1].disruption_target = true;
  life.look();
  EXPECT_NE(life.phase(), "Failed");
  life.look();
  EXPECT_THAT(life.pods(), ElementsAre("j-worker-0", "j-worker-1"));
}

TEST(PaddleLife, BeingDeletedItIsTerminatingUnlessItHasEnded) {
  Life life(paddle("worker: 1"));
  life.look();
  life.all_run();
  life.look();
  life.observed().deleting = true;
  life.look();
  EXPECT_EQ(life.phase(), "Terminating");
  Life over(paddle("worker: 1"));
  over.look();
  over.put("j-worker-0", PodPhase::Succeeded);
  over.look();
  over.observed().deleting = true;
  over.look();
  EXPECT_EQ(over.phase(), "Completed");
}

TEST(PaddleLife, ServersThatDoNotEndAreStoppedUnderEveryPolicy) {
  for (const char* policy : {"", "Always", "Never", "OnFailure", "OnCompletion"}) {
    auto job = paddle("ps: 1, worker: 1, heter: 1");
    job["spec"]["cleanPodPolicy"] = policy;
    Life life(job);
    life.look();
    life.all_run();
    life.look();
    life.put("j-worker-0", PodPhase::Succeeded);
    life.look();
    EXPECT_EQ(life.phase(), "Completed") << policy;
    const bool keeps = policy == std::string("Never") || policy == std::string("OnFailure");
    EXPECT_THAT(life.pods(),
                keeps ? testing::Matcher<std::vector<std::string>>(ElementsAre("j-worker-0"))
                      : testing::Matcher<std::vector<std::string>>(IsEmpty()))
        << policy;
  }
}

TEST(PaddleLife, APhaseOfTheStatusIsOneThatAllKindsShare) {
  using plan::Phase;
  const auto phase = [](const char* text) { return paddlejob().phase_of(parse(text)).phase; };
  EXPECT_EQ(phase("{}"), Phase::Created);
  EXPECT_EQ(phase("{phase: Pending}"), Phase::Created);
  EXPECT_EQ(phase("{phase: Starting}"), Phase::Created);
  EXPECT_EQ(phase("{phase: Running}"), Phase::Running);
  EXPECT_EQ(phase("{phase: Completed}"), Phase::Succeeded);
  EXPECT_EQ(phase("{phase: Failed}"), Phase::Failed);
  EXPECT_EQ(phase("{phase: Terminating}"), Phase::Created);
}

TEST(PaddleQuirks, PD1_ThePhaseIsThatOfWhatWasSeenJustNow) {
  Life life(paddle("worker: 1"));
  life.look();
  life.all_run();
  life.look();
  EXPECT_EQ(life.phase(), "Running");
  life.put("j-worker-0", PodPhase::Failed);
  life.look();
  EXPECT_EQ(life.phase(), "Failed");
}

TEST(PaddleQuirks, PD2_AFailureIsSeenWhateverTheOthersDo) {
  for (const char* failed : {"j-ps-0", "j-worker-0", "j-heter-0"}) {
    Life life(paddle("ps: 1, worker: 1, heter: 1"));
    life.look();
    life.put(failed, PodPhase::Failed);
    life.look();
    EXPECT_EQ(life.phase(), "Failed") << failed;
    EXPECT_THAT(life.events(), Contains(fmt::format("Failed: PaddleJob team/j failed: pod {} "
                                                    "exited with code 3",
                                                    failed)));
  }
}

TEST(PaddleQuirks, PD3_APodThatCouldNotBeMadeIsTriedAgain) {
  Life life(paddle("worker: 1"));
  life.observed().refusals = {
      {.kind = "Pod",
       .name = "j-worker-0",
       .role = "worker",
       .index = 0,
       .error = {.code = ErrorCode::Forbidden, .message = "exceeded quota: pods"}}};
  const auto refused = life.look();
  EXPECT_TRUE(refused.wake_at.has_value());
  EXPECT_THAT(life.pods(), IsEmpty());
  life.observed().refusals.clear();
  life.look();
  EXPECT_THAT(life.pods(), ElementsAre("j-worker-0"));
}

TEST(PaddleQuirks, PD9_TheStatusSaysOfWhichSpecItIs) {
  Life life(paddle("worker: 1"));
  life.look();
  EXPECT_EQ(life.status()["observedGeneration"].as_int(), 1);
  life.edit(paddle("worker: 2"));
  life.look();
  EXPECT_EQ(life.status()["observedGeneration"].as_int(), 2);
}

TEST(PaddleQuirks, PD10_ScalingRestartsAllWithANewConfigMap) {
  Life life(paddle("worker: 2"));
  life.look();
  life.all_run();
  life.look();
  life.look();
  EXPECT_EQ(life.config()["PADDLE_TRAINERS"].as_string(), "10.0.0.1,10.0.0.2");
  const std::string started = life.status()["startTime"].as_string();
  life.edit(paddle("worker: 3"));
  const auto decision = life.look();
  EXPECT_TRUE(decision.commit_first);
  EXPECT_THAT(life.pods(), IsEmpty());
  EXPECT_TRUE(life.config().is_null());
  EXPECT_EQ(life.phase(), "Pending");
  EXPECT_THAT(life.events(),
              ElementsAre("Restarted: PaddleJob team/j begins again with worker=3: every pod knows "
                          "all the others, so all of them are made anew"));
  life.look();
  EXPECT_EQ(life.pods().size(), 3U);
  EXPECT_TRUE(life.config().is_null());
  life.all_run();
  life.look();
  life.look();
  EXPECT_EQ(life.config()["PADDLE_TRAINERS"].as_string(), "10.0.0.1,10.0.0.2,10.0.0.3");
  EXPECT_EQ(life.config()["PADDLE_TRAINERS_NUM"].as_string(), "3");
  EXPECT_EQ(life.phase(), "Running");
  EXPECT_EQ(life.status()["startTime"].as_string(), started) << "it started when it first ran";
}

TEST(PaddleQuirks, PD18_AfterTheEndNothingIsMadeAgain) {
  Life life(paddle("worker: 1", "cleanPodPolicy: Never"));
  life.look();
  life.put("j-worker-0", PodPhase::Succeeded);
  life.look();
  EXPECT_EQ(life.phase(), "Completed");
  life.take_away("j-worker-0");
  life.look();
  EXPECT_THAT(life.pods(), IsEmpty());
  EXPECT_EQ(life.status()["worker"]["succeeded"].as_int(), 1);
  EXPECT_EQ(life.status()["worker"]["refs"].as_array().size(), 1U);
}

}  // namespace
}  // namespace muster::dialects::test
