#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>

#include "api/event.h"
#include "api/resource.h"
#include "base/log.h"
#include "base/random.h"
#include "cluster/cluster.h"
#include "rt/loop.h"
#include "rt/scope.h"
#include "rt/task.h"
#include "rt/wait.h"

namespace muster::node {

using api::EventSeverity;

// Tells people what happened to a pod, as core/v1 Events. Lives on the agent's loop. Repetitions of
// the same words raise the count of the first event, so that a crash loop is one row. Best effort
// and bounded: at most 256 wait to be written, what comes on top is dropped and counted. Ends with
// close().
class EventRecorder {
 public:
  EventRecorder(rt::Loop& loop, cluster::Cluster& cluster, Rng& rng, std::string host, Logger log)
      : loop_(loop),
        cluster_(cluster),
        rng_(rng),
        host_(std::move(host)),
        log_(std::move(log)),
        queued_(loop),
        scope_(loop) {}

  struct Words {
    EventSeverity severity = EventSeverity::Normal;
    std::string reason;
    std::string message;
    std::string container;  // empty: the pod as a whole
  };
  void record(const json::Value& object, Words words);

  void start() { scope_.spawn(write_all()); }
  Task<void> close() { return scope_.close(); }
  [[nodiscard]] std::uint64_t dropped() const { return dropped_; }

 private:
  struct Entry {
    json::Value event;  // as last written or to be written
    std::int64_t count = 0;
    bool waiting = false;
  };

  Task<void> write_all();
  Task<Result<void>> write_one(std::string key);
  void try_again(std::string key);
  void forget_oldest();

  rt::Loop& loop_;
  cluster::Cluster& cluster_;
  Rng& rng_;
  std::string host_;
  Logger log_;
  std::map<std::string, Entry> entries_;  // by object, container, reason and message
  std::deque<std::string> order_;         // of their first appearance
  std::deque<std::string> waiting_;
  std::uint64_t dropped_ = 0;
  rt::Event queued_;
  rt::TaskScope scope_;
};

}  // namespace muster::node
