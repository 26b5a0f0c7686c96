#include "cli/run/interruption.h"

#include <csignal>

namespace muster::cli {
namespace {

bool is_ignored(int signal) {
  struct sigaction now{};
  return ::sigaction(signal, nullptr, &now) == 0 && now.sa_handler == SIG_IGN;
}

}  // namespace

Task<void> watch_signals(rt::RealLoop& loop, Interruption& interruption, OnCtrlC on_ctrl_c) {
  std::vector<int> wanted = {SIGINT, SIGTERM};
  if (!is_ignored(SIGHUP)) wanted.push_back(SIGHUP);
  rt::Signals signals(loop, std::move(wanted));
  while (true) {
    const auto signal = co_await signals.next();
    if (!signal) co_return;
    if (*signal == SIGHUP || on_ctrl_c == OnCtrlC::Detach) {
      interruption.detach();
    } else {
      interruption.stop();
    }
  }
}

}  // namespace muster::cli
