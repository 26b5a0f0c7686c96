#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/fd.h"
#include "node/linux/cgroup.h"
#include "node/runtime/types.h"
#include "node/shim/cri_writer.h"
#include "node/shim/pod.h"
#include "node/shim/protocol.h"

namespace muster::node::shim {

// One attempt of one container, from fork to its exit record. Lives in the shim's only thread and
// is driven by it: each descriptor that it names is to be polled, and the matching function called.
//
//   Building ─ready─▶ Starting ─exec─▶ Running ─exit─▶ Ending ─nothing left─▶ Ended
//       └──────failure──────┴─▶ Failed
//
// The start record is on the disk before the program is executed, the exit record before anybody is
// told. So an attempt on record is never executed again.
class Container {
 public:
  enum class State { Building, Starting, Running, Ending, Ended, Failed };

  // Writes the intent, makes the cgroup and forks. An error: nothing was started, nothing is left.
  static Result<std::unique_ptr<Container>> launch(ContainerSpec spec, const Pod& pod,
                                                   const std::string& pod_directory);

  [[nodiscard]] State state() const { return state_; }
  [[nodiscard]] const ContainerSpec& spec() const { return spec_; }
  [[nodiscard]] ContainerId id() const { return {spec_.name, spec_.attempt}; }
  [[nodiscard]] int pid() const { return pid_; }
  [[nodiscard]] const linux::Cgroup& cgroup() const { return cgroup_; }
  [[nodiscard]] ContainerStart start() const;
  [[nodiscard]] const FailureRecord& failure() const { return failure_; }
  [[nodiscard]] const ContainerExit& exit() const { return exit_; }
  [[nodiscard]] bool over() const { return state_ == State::Ended || state_ == State::Failed; }
  // Over, and its process reaped: nothing more will happen.
  [[nodiscard]] bool gone() const { return over() && reaped_; }

  // Descriptors to poll for reading; -1 where there is none any more.
  [[nodiscard]] int status_descriptor() const { return status_.get(); }
  [[nodiscard]] int output_descriptor(CriWriter::Stream stream) const;

  void on_status();
  void on_output(CriWriter::Stream stream);
  // When an unfinished line of its output is to be in the log; nothing: there is none.
  [[nodiscard]] std::optional<std::chrono::steady_clock::time_point> unfinished_due() const;
  void write_unfinished();
  // Its first process was reaped with this wait status.
  void on_exit(int wait_status);
  // Ending: kills what the container left behind, and ends once there is nothing and its log is
  // written. A full disk is waited for, if it may be, for as long as it takes to evict who filled
  // it.
  enum class Room { Awaited, NotAwaited };
  void try_end(Room room);
  // Ending, and only that is left.
  [[nodiscard]] bool waits_for_room() const { return waits_for_room_since_.has_value(); }
  void kill();

  // Who is to be told; kept for the server.
  std::vector<std::uint64_t> start_waiters;
  std::vector<std::uint64_t> exit_waiters;

 private:
  Container(ContainerSpec spec, std::string directory, std::string log_path, linux::Cgroup cgroup,
            CriWriter log)
      : spec_(std::move(spec)),
        directory_(std::move(directory)),
        log_path_(std::move(log_path)),
        cgroup_(std::move(cgroup)),
        log_(std::move(log)) {}
  void release();
  void fail_start(FailureRecord failure);
  void drain();
  // SIGKILL for all that is in the container; true when there was nothing.
  bool kill_all();
  void log(CriWriter::Stream stream, std::string_view bytes);
  [[nodiscard]] std::string termination_message() const;

  ContainerSpec spec_;
  std::string directory_;
  std::string termination_file_;  // empty: none
  std::string log_path_;
  linux::Cgroup cgroup_;
  Fd mounts_;  // its mount namespace, while that says what is in it
  CriWriter log_;
  State state_ = State::Building;
  int pid_ = 0;
  bool reaped_ = false;
  Time started_{};
  Fd status_;
  Fd release_;
  Fd output_[2];
  std::optional<std::chrono::steady_clock::time_point> unfinished_since_;
  std::optional<std::chrono::steady_clock::time_point> waits_for_room_since_;
  std::string status_bytes_;
  FailureRecord failure_;
  ContainerExit exit_;
};

}  // namespace muster::node::shim
