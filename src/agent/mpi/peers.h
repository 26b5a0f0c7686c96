#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "agent/mpi/channel.h"
#include "agent/mpi/settings.h"
#include "rt/pool.h"

namespace muster::agent::mpi {

struct Patience {
  Duration limit{};  // 0: without end
  // Called after every attempt that failed, with its reason.
  std::function<void(const Error&)> on_failure;
};

// Connections to other pods of the job, tried until they answer. `loop` and `pool` outlive it.
class Peers {
 public:
  // With the job's key to their agents; without settings.key in plain text to their sshd.
  static Result<std::unique_ptr<Peers>> create(rt::RealLoop& loop, rt::Pool& pool,
                                               Settings settings);

  // To the agent of the host. A peer that keeps refusing our key is given up after half a minute:
  // names may lead to the pods of an older job of the same name for so long, not longer.
  Task<Result<std::unique_ptr<FrameChannel>>> reach(std::string host, Patience patience);

  // Until what starts processes there, the agent or sshd, has answered once.
  Task<Result<void>> wait_for_answer(std::string host, Patience patience);

 private:
  Peers(rt::RealLoop& loop, rt::Pool& pool, Settings settings, std::optional<net::TlsContext> tls);

  Task<Result<std::unique_ptr<net::Stream>>> connect(std::string host);
  Task<Result<std::unique_ptr<FrameChannel>>> attempt(std::string host);
  Task<Result<std::unique_ptr<FrameChannel>>> ask(std::string host);
  Task<Result<std::unique_ptr<FrameChannel>>> repeat(
      Task<Result<std::unique_ptr<FrameChannel>>> (Peers::*attempt)(std::string), std::string host,
      Patience patience);

  rt::RealLoop& loop_;
  rt::Pool& pool_;
  Settings settings_;
  std::optional<net::TlsContext> tls_;  // none: sshd
  rt::Gate at_once_;
};

// Until every host has answered; says on stderr whom it waits for. Limit 0: no end.
Task<Result<void>> wait_for_hosts(rt::RealLoop& loop, Peers& peers, std::vector<std::string> hosts,
                                  Duration limit);

}  // namespace muster::agent::mpi
