#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/error.h"
#include "base/log.h"
#include "base/random.h"
#include "plan/dialect.h"
#include "rt/loop.h"
#include "rt/pool.h"
#include "rt/task.h"
#include "server/core.h"
#include "server/volumes/directories.h"

namespace muster::server {

// The embedded API server, put together: store, core, controllers. What it is given outlives it.
// Ends with close(), which leaves everything acknowledged on disk and the home free for another
// owner.
class EmbeddedServer {
 public:
  struct Options {
    rt::Loop& loop;
    rt::Pool* pool = nullptr;  // needed with a home
    Rng& rng;
    const plan::Registry& registry;
    std::string home;              // a directory; empty: in memory, without threads
    std::optional<HomeLock> lock;  // of the home; none: taken here
    // Shows the home as it is now and lets go of it at once: what is written stays in memory.
    bool snapshot = false;
    std::string service_range = "10.96.0.0/16";
    std::string root_ca;
    std::unique_ptr<VolumeDirectories> volumes;  // none given: in the home, where there is one
    Secret token_key;
    std::string own_node;  // this machine as a node, which cannot be deleted
    Logger log;
  };

  // Fails when the home has another owner, or the store is damaged.
  static Task<Result<std::unique_ptr<EmbeddedServer>>> create(Options options);

  [[nodiscard]] Core& core() { return *core_; }
  // Called once when the store fails; the server then refuses every write and should be stopped.
  void on_failure(std::function<void(const Error&)> callback);
  Task<void> close() { return core_->close(); }

 private:
  EmbeddedServer(std::unique_ptr<VolumeDirectories> volumes, Store& store,
                 std::unique_ptr<Core> core)
      : volumes_(std::move(volumes)), store_(store), core_(std::move(core)) {}
  std::unique_ptr<VolumeDirectories> volumes_;
  Store& store_;  // the core owns it
  std::unique_ptr<Core> core_;
};

}  // namespace muster::server
