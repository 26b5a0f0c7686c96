#pragma once

#include <cstdint>
#include <mutex>
#include <string>

#include "base/error.h"
#include "base/fd.h"

namespace muster::node {

// Our side of the process that shims are forked from (shim/nursery.h), which costs a pod a tenth of
// what starting a program does. It is started anew when it is gone, and ends with us; the shims
// stay. For the pool: everything blocks, for a tenth of a millisecond.
class Nursery {
 public:
  struct Options {
    std::string program;  // muster-shim
    std::string home_key;
    std::uint64_t open_files = 0;  // that a shim and all it starts may have at first; 0: as we
  };
  explicit Nursery(Options options) : options_(std::move(options)) {}
  Nursery(const Nursery&) = delete;
  Nursery& operator=(const Nursery&) = delete;
  ~Nursery() { end(); }

  // Starts it, so that the first shim does not wait for what it does first: on some machines the
  // kernel takes tens of milliseconds for that. Whether it could be started, the first shim learns.
  void get_ready();
  // Has a shim started for the message's pod (shim/nursery.h), which has its lock from then on.
  Result<void> bear(const std::string& message, const Fd& lock, const Fd& ready);

 private:
  Result<void> start();
  void end();

  const Options options_;
  std::mutex mutex_;
  Fd births_;  // not valid: it is not there
  int pid_ = 0;
};

}  // namespace muster::node
