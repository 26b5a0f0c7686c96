#include "controller/metrics.h"

#include "kinds_fixture.h"

namespace muster::controller {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(Metrics, AllCountersOfANamespaceBeginTogether) {
  Metrics metrics;
  metrics.count(Metrics::Job::Created, "mindspore", "ml");
  for (const char* what : {"deleted", "successful", "failed", "restarted"}) {
    EXPECT_THAT(metrics.text(),
                HasSubstr(fmt::format("\ntraining_operator_jobs_{}_total{{framework=\"mindspore\","
                                      "job_namespace=\"ml\"}} 0\n",
                                      what)));
  }
  EXPECT_THAT(metrics.text(), HasSubstr("\ntraining_operator_jobs_created_total{framework="
                                        "\"mindspore\",job_namespace=\"ml\"} 1\n"));
}

TEST(Metrics, NamespacesBeyondTheBoundShareOneLabel) {
  Metrics metrics;
  for (std::size_t i = 0; i < Metrics::kMostPairs + 3; ++i)
    metrics.count(Metrics::Job::Failed, "mindspore", fmt::format("team-{}", i));
  metrics.count(Metrics::Job::Failed, "mindspore", "team-0");
  const std::string text = metrics.text();
  const std::string failed = "\ntraining_operator_jobs_failed_total{framework=\"mindspore\"";
  EXPECT_THAT(text, HasSubstr(failed + ",job_namespace=\"(others)\"} 3\n"));
  EXPECT_THAT(text, HasSubstr(failed + ",job_namespace=\"team-0\"} 2\n"));
  EXPECT_THAT(text, Not(HasSubstr(fmt::format("team-{}\"", Metrics::kMostPairs))));
}

TEST(Metrics, WhatAWaveFoldedCountsInFull) {
  using plan::Note;
  Metrics metrics;
  metrics.count({{.kind = Note::Kind::PodsCreated, .object_kind = "Pod", .subject = "64"},
                 {.kind = Note::Kind::PodCreated, .object_kind = "Pod", .subject = "7"},
                 {.kind = Note::Kind::PodDeleted, .object_kind = "Pod", .subject = "a"},
                 {.kind = Note::Kind::ObjectsCreated, .object_kind = "Service", .subject = "11"},
                 {.kind = Note::Kind::CreateFailed, .object_kind = "Service", .subject = "s"}});
  EXPECT_THAT(metrics.text(), HasSubstr("\ncreated_pods_total 65\n"));
  EXPECT_THAT(metrics.text(), HasSubstr("\ndeleted_pods_total 1\n"));
  EXPECT_THAT(metrics.text(), HasSubstr("\nmuster_creations_failed_total{kind=\"Pod\"} 0\n"));
  EXPECT_THAT(metrics.text(), HasSubstr("\nmuster_creations_failed_total{kind=\"Service\"} 1\n"));
}

// Jobs of one kind, and what became of them.
class JobMetrics : public KindsTest {
 protected:
  JobMetrics() {
    add(kind_);
    start();
  }
  void end_pod(const std::string& job, const std::string& phase) {
    json::Value pod = *get(api::pods(), job + "-worker-0");
    pod["status"]["phase"] = phase;
    must(cluster_->update_status(api::pods(), std::move(pod)));
    loop_.run_for(10s);
  }
  void expect(const std::string& sample) const {
    EXPECT_THAT(controller_->metrics(), HasSubstr("\n" + sample + "\n"));
  }
  void expect_counted(const std::string& what, int times) const {
    expect(
        fmt::format("training_operator_jobs_{}_total{{framework=\"{}\",job_namespace=\"default"
                    "\"}} {}",
                    what, kind_.framework, times));
  }
  void expect_jobs(const std::string& state, int count) const {
    expect(fmt::format("muster_jobs{{kind=\"{}\",state=\"{}\"}} {}", kind_.resource.qualified(),
                       state, count));
  }

  plan::Identity kind_ = toy("a.example");
};

TEST_F(JobMetrics, JobsByStateAndWhatBecameOfThem) {
  for (const char* name : {"good", "bad", "waiting"}) submit(kind_, name);
  end_pod("good", "Succeeded");
  end_pod("bad", "Failed");
  expect_counted("created", 3);
  expect_counted("successful", 1);
  expect_counted("failed", 1);
  expect_counted("restarted", 0);
  expect_jobs("Created", 1);
  expect_jobs("Running", 0);
  expect_jobs("Succeeded", 1);
  expect_jobs("Failed", 1);
  expect("created_pods_total 3");
  must(cluster_->remove(kind_.resource, {.ns = "default", .name = "good"}, {}));
  loop_.run_for(10s);
  expect_counted("deleted", 1);
  expect_jobs("Succeeded", 0);
}

TEST_F(JobMetrics, AnotherOperatorCountsNoJobAgain) {
  submit(kind_, "train");
  submit(kind_, "done");
  end_pod("done", "Succeeded");
  restart();
  expect_jobs("Created", 1);
  expect_jobs("Succeeded", 1);
  end_pod("train", "Succeeded");
  expect_counted("successful", 1);
  expect_counted("created", 0);
}

TEST_F(JobMetrics, LooksAndTheNewsOfWatches) {
  submit(kind_, "train");
  const std::string text = controller_->metrics();
  const std::string looks = "controller_runtime_reconcile_total{controller=\"msjobs.a.example\",";
  EXPECT_THAT(text, Not(HasSubstr(looks + "result=\"success\"} 0\n")));
  expect(looks + "result=\"error\"} 0");
  expect("workqueue_depth{name=\"muster\"} 0");
  // Its status was the last that was heard of it; the list before it was a second older.
  const std::string news =
      "muster_reflector_last_news_timestamp_seconds{resource=\"msjobs.a.example\",version=\"v1\"} ";
  const auto at = text.find(news);
  ASSERT_NE(at, std::string::npos);
  const double heard = std::stod(text.substr(at + news.size()));
  const double now = exposition::seconds(loop_.now().time_since_epoch());
  EXPECT_LE(heard, now);
  EXPECT_GE(heard, now - 6) << "the job is younger than that";
}

}  // namespace
}  // namespace muster::controller
