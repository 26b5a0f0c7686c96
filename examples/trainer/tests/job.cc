#include "trainer/tests/job.h"

#include <fstream>
#include <iterator>
#include <utility>

#include <gtest/gtest.h>

#include "trainer/snapshot_store.h"

namespace muster::trainer {

Job::Job(Options options) : options_(std::move(options)), workers_(options_.workers) {}

void Job::start_scheduler() {
  scheduler_ = start("MS_SCHED", "job-scheduler-0");
  const std::string line = scheduler_->wait_for_line("listening on 0.0.0.0:");
  const std::size_t colon = line.find(':', line.find("0.0.0.0"));
  port_ = line.substr(colon + 1, line.find(' ', colon) - colon - 1);
}

void Job::start_worker(std::size_t index) {
  workers_[index] = start("MS_WORKER", "job-worker-" + std::to_string(index));
}

void Job::start_workers() {
  for (std::size_t index = 0; index < workers_.size(); ++index) {
    start_worker(index);
  }
}

std::vector<int> Job::wait_for_workers() {
  std::vector<int> codes;
  for (const auto& worker : workers_) {
    codes.push_back(worker->wait());
  }
  return codes;
}

std::filesystem::path Job::final_file(std::size_t rank) const {
  return final_path(options_.directory, rank);
}

std::unique_ptr<Process> Job::start(const std::string& role, const std::string& node_id) const {
  std::map<std::string, std::string> variables = options_.variables;
  variables.insert({{"MS_SCHED_HOST", "127.0.0.1"},
                    {"MS_NODE_ID", node_id},
                    {"MS_SCHED_PORT", port_},
                    {"MS_SERVER_NUM", "0"},
                    {"MS_ROLE", role},
                    {"MS_WORKER_NUM", std::to_string(options_.workers)}});
  std::vector<std::string> arguments = options_.flags;
  arguments.insert(arguments.end(), {"--checkpoint-dir", options_.directory.string()});
  return Process::start(arguments, variables);
}

Outcome run_trainer(const std::vector<std::string>& arguments,
                    const std::map<std::string, std::string>& variables) {
  const auto process = Process::start(arguments, variables);
  const int exit_code = process->wait();
  return {exit_code, process->output()};
}

std::string contents(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file) << path;
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace muster::trainer
