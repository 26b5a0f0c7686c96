#pragma once

#include <string>

#include "base/error.h"
#include "base/fd.h"
#include "node/linux/cgroup.h"
#include "node/shim/protocol.h"

namespace muster::node::shim {

// The pod's namespaces, address, cgroup and first process. The shim itself moves into the pod's
// network, UTS and IPC namespaces, so that whatever it forks is in them, and in the pod's PID
// namespace.
class Pod {
 public:
  // `empty` is a mount namespace with nothing in it. An error leaves the shim half moved; it is to
  // exit then.
  static Result<Pod> set_up(SandboxRecord record, Fd empty);

  [[nodiscard]] const SandboxRecord& record() const { return record_; }
  [[nodiscard]] const Fd& empty() const { return empty_; }
  [[nodiscard]] int init() const { return init_; }
  // The first process was reaped: everything in the pod is gone, and nothing can be started.
  void on_init_exit() { alive_ = false; }
  [[nodiscard]] bool alive() const { return alive_; }
  // SIGKILL for the first process, and by that for all.
  void kill() const;
  // Takes the cgroup away. Only when nothing runs any more; the link goes with the network
  // namespace, and that with us.
  void tear_down() { cgroup_.remove(); }

 private:
  Pod(SandboxRecord record, Fd empty)
      : record_(std::move(record)),
        empty_(std::move(empty)),
        cgroup_(record_.cgroups, record_.spec.pod_uid) {}
  Result<void> connect();
  Result<void> start_init();

  SandboxRecord record_;
  Fd empty_;
  linux::Cgroup cgroup_;
  int init_ = 0;
  bool alive_ = false;
};

}  // namespace muster::node::shim
