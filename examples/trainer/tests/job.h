#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "trainer/tests/process.h"

namespace muster::trainer {

// A job as its controller would run it, on the loopback: one scheduler and some workers, with the
// variables that an MSJob injects. Tests start, disturb and restart its processes.
class Job {
 public:
  struct Options {
    std::filesystem::path directory;
    std::vector<std::string> flags;
    std::map<std::string, std::string> variables = {};  // beside or instead of the injected ones
    std::size_t workers = 4;
  };
  explicit Job(Options options);

  // The first time on any free port, later on the same one.
  void start_scheduler();
  void start_worker(std::size_t index);
  void start_workers();

  [[nodiscard]] const std::string& port() const { return port_; }
  [[nodiscard]] Process& scheduler() { return *scheduler_; }
  [[nodiscard]] Process& worker(std::size_t index) { return *workers_[index]; }

  // Waits for every worker; their exit codes.
  std::vector<int> wait_for_workers();

  [[nodiscard]] std::filesystem::path final_file(std::size_t rank) const;

 private:
  [[nodiscard]] std::unique_ptr<Process> start(const std::string& role,
                                               const std::string& node_id) const;

  Options options_;
  std::string port_ = "0";
  std::unique_ptr<Process> scheduler_;
  std::vector<std::unique_ptr<Process>> workers_;
};

// What a finished muster-trainer said, and how it ended.
struct Outcome {
  int exit_code = 0;
  std::string output;
};
[[nodiscard]] Outcome run_trainer(const std::vector<std::string>& arguments,
                                  const std::map<std::string, std::string>& variables = {});

[[nodiscard]] std::string contents(const std::filesystem::path& path);

}  // namespace muster::trainer
