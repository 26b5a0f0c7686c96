#include "engine/census.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "builders.h"
#include "engine/decide.h"

namespace muster::engine {
namespace {

using namespace testing;
using api::PodPhase;
using Stage = plan::RankReport::Stage;
using ::testing::IsEmpty;

struct Row {
  std::string name;
  PodView pod;
  std::optional<Stage> expected;
};

PodView with_ip(PodView view) {
  view.ip = "10.0.0.1";
  return view;
}

PodView two_containers(bool second_runs) {
  PodView view = with_ip(pod("Worker", 0, PodPhase::Running));
  view.containers.push_back({.name = "sidecar", .running = second_runs});
  return view;
}

PodView going() {
  PodView view = pod("Worker", 0, PodPhase::Running);
  view.deleting = true;
  return view;
}

PodView after_its_init_container() {
  PodView view = pod("Worker", 0, PodPhase::Running);
  view.containers.push_back({.name = "prepare", .init = true, .exit_code = 0});
  return view;
}

TEST(Report, SaysHowFarEveryPodIs) {
  const std::vector<Row> rows = {
      {"no place yet", pod("Worker", 0, PodPhase::Pending), Stage::Pending},
      {"waits at the gate", with_ip(pod("Worker", 0, PodPhase::Pending)), Stage::Starting},
      {"runs", pod("Worker", 0, PodPhase::Running), Stage::Running},
      {"both containers run", two_containers(true), Stage::Running},
      {"one of two runs", two_containers(false), Stage::Starting},
      {"runs after its init container", after_its_init_container(), Stage::Running},
      {"succeeded", pod("Worker", 0, PodPhase::Succeeded, 0), Stage::Succeeded},
      {"failed", pod("Worker", 0, PodPhase::Failed, 1), Stage::Failed},
      {"nobody knows", pod("Worker", 0, PodPhase::Unknown), Stage::Unknown},
      {"on its way out", going(), std::nullopt},
      {"will be replaced", disrupted("Worker", 0), std::nullopt},
  };
  const plan::Plan plan = JobBuilder().workers(1).restart_in_place().build();
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    const std::vector<PodView> pods = {row.pod};
    const plan::Ledger ledger;
    const auto reports = report(Census(plan, pods, ledger));
    if (!row.expected) {
      EXPECT_THAT(reports, IsEmpty());
      continue;
    }
    ASSERT_EQ(reports.size(), 1U);
    const auto& [role, name, uid, stage, containers] = reports[0];
    EXPECT_EQ(std::tie(role, name, uid),
              std::tuple("Worker", "bert-worker-0", "uid-bert-worker-0"));
    EXPECT_EQ(stage, *row.expected);
    const auto of_init = std::ranges::count_if(row.pod.containers, &ContainerView::init);
    EXPECT_EQ(containers.size() + static_cast<std::size_t>(of_init), row.pod.containers.size());
    EXPECT_EQ(containers.at(0).name, "mindspore");
    EXPECT_EQ(containers.at(0).exit_code, row.pod.container("mindspore")->exit_code);
  }
}

TEST(Report, IsMadeOnlyWhereThePlanAsksForIt) {
  plan::Plan plan = JobBuilder().workers(1).build();
  Observed observed = begun();
  observed.pods = {pod("Worker", 0, PodPhase::Running)};
  EXPECT_THAT(decide(plan, observed, kStart).verdict.ranks, IsEmpty());
  plan.reports_ranks = true;
  EXPECT_EQ(decide(plan, observed, kStart).verdict.ranks.size(), 1U);
}

}  // namespace
}  // namespace muster::engine
