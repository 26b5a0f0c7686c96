#pragma once

#include <deque>
#include <functional>
#include <map>
#include <set>
#include <string>

#include "base/log.h"
#include "base/random.h"
#include "cluster/cluster.h"
#include "plan/dialect.h"
#include "rt/loop.h"
#include "rt/scope.h"

namespace muster::controller {

// Writes events about jobs. They are worth little compared with a pod: they wait while there is
// other work (but not longer than a few seconds), are sent a few at a time, and are dropped with a
// count when too many queue up or the server refuses them. Lives on the loop; identities outlive
// it.
class Recorder {
 public:
  struct Options {
    std::function<bool()> busy;       // other work is waiting
    std::function<bool()> may_write;  // false: we lost the right to write
  };
  Recorder(rt::Loop& loop, cluster::Cluster& cluster, Rng& rng, Logger log, Options options);

  // What happened is written each time. What lasts is found again at every look: written once,
  // until its text changes.
  enum class About { Happening, Lasting };
  void record(const plan::Identity& identity, const plan::JobRef& job, const plan::EventText& text,
              const std::string& subject, About about);
  // Forgets what was said about a job that is gone.
  void forget(const std::string& job_uid) { said_.erase(job_uid); }

  // Sends until cancelled, then what is left for a moment.
  Task<void> run();
  [[nodiscard]] std::size_t waiting() const { return queue_.size(); }
  [[nodiscard]] std::uint64_t dropped() const { return dropped_; }

 private:
  // What an event says; its body, several times as big, is made when it is sent.
  struct Waiting {
    const plan::Identity* identity;
    std::string ns;
    std::string name;
    std::string uid;
    plan::EventText text;
    Time at;
  };

  static json::Value body_of(const Waiting& event, Rng& rng);
  Task<void> send_one();
  Task<void> wait_for_quiet();

  rt::Loop& loop_;
  cluster::Cluster& cluster_;
  Rng& rng_;
  Logger log_;
  Options options_;
  rt::Event ready_;
  std::deque<Waiting> queue_;
  // Of what lasts, by job uid: the last text of each reason and subject.
  std::map<std::string, std::map<std::string, std::string>> said_;
  std::uint64_t dropped_ = 0;
};

}  // namespace muster::controller
