#pragma once

#include <memory>
#include <string>

#include "base/fd.h"
#include "cli/context.h"
#include "json/value.h"
#include "rt/task.h"
#include "server/store/home_lock.h"

namespace muster::cli {

// What `muster plane` finds open, beside the three of every program.
inline constexpr int kPlaneLock = 3;     // the lock of its home, taken
inline constexpr int kPlaneStarter = 4;  // a socket: where it says how its start went

// Makes the directory of the embedded control plane, for its owner alone.
Result<void> make_home(const std::string& home);
// Where a plane without a terminal leaves its diagnostics.
std::string plane_log_path(const std::string& home);

// A plane that this process started: a program of its own, in a session of its own, which outlives
// us. It stays at least until it is released. Lives on the context's loop.
class LaunchedPlane {
 public:
  // The lock goes over to the new process. `settings` as in runner_settings(). The program is this
  // one.
  static Result<std::unique_ptr<LaunchedPlane>> launch(
      Context& context, server::HomeLock lock, const json::Value& settings,
      const std::string& program = "/proc/self/exe");
  ~LaunchedPlane();

  // When it serves; or why it does not, in its own words, and it has ended then. Gone when it died
  // without a word.
  Task<Result<void>> ready();
  // From now on it stays only for those who hold a session.
  void release() { socket_.close(); }

 private:
  LaunchedPlane(rt::RealLoop& loop, Fd socket, int pid);

  rt::RealLoop& loop_;
  rt::Descriptor socket_;
  int pid_;
};

// Until a process has ended, ours or not, but not longer than the limit.
Task<void> wait_until_gone(rt::RealLoop& loop, int pid, Duration limit);

// The other side: says how the start went. Nothing for success.
void tell_starter(int socket, const Result<void>& started);

}  // namespace muster::cli
