#include "agent/reaper.h"

#include <sys/prctl.h>
#include <sys/wait.h>

#include <cerrno>
#include <csignal>

namespace muster::agent {

Reaper::Reaper(rt::RealLoop& loop) : loop_(loop), signals_(loop, {SIGCHLD}) {
  ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
}

std::shared_ptr<ProcessEnd> Reaper::expect(pid_t pid) {
  return expected_.emplace(pid, std::make_shared<ProcessEnd>(loop_)).first->second;
}

Task<void> Reaper::serve() {
  while (true) {
    reap();
    if (!co_await signals_.next()) co_return;
  }
}

void Reaper::reap() {
  while (true) {
    int status = 0;
    const pid_t pid = ::waitpid(-1, &status, WNOHANG);
    if (pid < 0 && errno == EINTR) continue;
    if (pid <= 0) return;
    const auto found = expected_.find(pid);
    if (found == expected_.end()) continue;
    if (WIFSIGNALED(status)) found->second->signal = WTERMSIG(status);
    found->second->code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    found->second->known.set();
    expected_.erase(found);
  }
}

}  // namespace muster::agent
