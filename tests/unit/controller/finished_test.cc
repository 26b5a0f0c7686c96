#include <fstream>

#include <unistd.h>

#include "kinds_fixture.h"

namespace muster::controller {
namespace {

std::size_t resident_bytes() {
  std::size_t all = 0;
  std::size_t resident = 0;
  std::ifstream("/proc/self/statm") >> all >> resident;
  return resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

class FinishedTest : public KindsTest {
 protected:
  // A server with so many jobs that have ended, and nobody who looks at them yet.
  void finished_jobs(int count) {
    auto made = loop_.run(server::EmbeddedServer::create(
        {.loop = loop_, .rng = rng_, .registry = kinds_, .home = ""}));
    toys_ = std::move(*made);
    cluster_ = std::make_unique<cluster::LocalCluster>(toys_->core());
    for (int i = 0; i < count; ++i) {
      json::Value job = small_job("train-" + std::to_string(i));
      job["apiVersion"] = toy("toys.test").resource.api_version();
      json::Value stored = *must(cluster_->create(toy("toys.test").resource, std::move(job)));
      stored["status"]["muster"] = json::Object{{"phase", "Succeeded"},
                                                {"observedGeneration", 1},
                                                {"startTime", "2026-01-01T00:00:00.000000Z"},
                                                {"completionTime", "2026-01-01T00:00:01.000000Z"}};
      must(cluster_->update_status(toy("toys.test").resource, std::move(stored)));
    }
  }
  void look_at_all() {
    controller_.emplace(loop_, *cluster_, kinds_, rng_, log_, Controller::Options{});
    scope_.spawn(controller_->run());
    loop_.run_for(1min);
  }
};

// 1,000 plans of 640 KB would be 640 MB; the jobs themselves are next to nothing.
TEST_F(FinishedTest, LeaveNoPlanInMemory) {
  int compiled = 0;
  add(toy("toys.test"), [&](plan::Plan& plan) {
    ++compiled;
    plan.roles[0].pod["metadata"]["annotations"]["large"] = std::string(640U << 10U, 'x');
  });
  finished_jobs(1'000);
  const std::size_t before = resident_bytes();
  look_at_all();
  EXPECT_GE(compiled, 1'000);
  EXPECT_LT(resident_bytes(), before + (320U << 20U));
}

}  // namespace
}  // namespace muster::controller
