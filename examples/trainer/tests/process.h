#pragma once

#include <sys/types.h>

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "trainer/descriptor.h"

namespace muster::trainer {

// A running muster-trainer, whose stdout and stderr are read as they come. Killed if the test ends
// before it does.
class Process {
 public:
  static std::unique_ptr<Process> start(const std::vector<std::string>& arguments,
                                        const std::map<std::string, std::string>& environment);
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  ~Process();

  // The first line that contains `text`. Waits for it; fails the test if the process ends without.
  std::string wait_for_line(std::string_view text);

  // The exit code, or 128 plus the signal, as a shell would say it.
  int wait();

  void signal(int number) const;

  // All lines so far.
  [[nodiscard]] std::string output();

 private:
  Process(pid_t id, Descriptor output);
  void read_output();

  pid_t id_;
  bool is_reaped_ = false;
  Descriptor pipe_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string output_;
  bool has_ended_ = false;  // no more output will come
  std::jthread reader_;     // last: it uses all of the above
};

}  // namespace muster::trainer
