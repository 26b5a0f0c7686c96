#include "cli/jobs/kept_logs.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::cli {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;

class KeptLogs : public ::testing::Test {
 protected:
  KeptLogs() {
    char path[] = "/tmp/muster-kept.XXXXXX";
    home_ = ::mkdtemp(path);
  }
  ~KeptLogs() override { fs::remove_all(home_); }
  void write(const std::string& directory, const std::string& container, const std::string& file) {
    fs::create_directories(fs::path(home_) / "logs" / directory / container);
    std::ofstream(fs::path(home_) / "logs" / directory / container / file) << "x\n";
  }
  std::string home_;
};

TEST_F(KeptLogs, FindsTheNewestAttemptOfEveryRankOfOneJob) {
  write("ml_bert-worker-1_u1", "mindspore", "0.log");
  write("ml_bert-worker-1_u1", "mindspore", "1.log");
  write("ml_bert-scheduler-0_u2", "mindspore", "0.log");
  write("ml_bert-large-worker-0_u3", "mindspore", "0.log");  // another job
  write("other_bert-worker-0_u4", "mindspore", "0.log");     // another namespace
  std::vector<std::string> found;
  for (const auto& log : kept_logs(home_, "ml", "bert"))
    found.push_back(log.pod + "/" + std::to_string(log.attempt));
  EXPECT_THAT(found, ElementsAre("bert-scheduler-0/0", "bert-worker-1/1"));
}

TEST_F(KeptLogs, ARoleWithOnePodHasNoNumberInItsName) {
  write("ml_bert-launcher_u1", "launcher", "0.log");
  write("ml_bert-worker-0_u2", "worker", "0.log");
  write("ml_bert-k2x9p_u3", "main", "0.log");  // a plain job's, which has no role
  std::vector<std::string> found;
  for (const auto& log : kept_logs(home_, "ml", "bert"))
    found.push_back(log.role + "/" + std::to_string(log.index));
  EXPECT_THAT(found, ElementsAre("launcher/0", "worker/0"));
}

TEST_F(KeptLogs, AHomeWithoutLogsHasNone) {
  EXPECT_TRUE(kept_logs(home_, "ml", "bert").empty());
}

}  // namespace
}  // namespace muster::cli
