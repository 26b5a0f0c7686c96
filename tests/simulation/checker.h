#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "api/resource.h"
#include "history.h"
#include "json/value.h"
#include "rt/loop.h"
#include "server/core.h"

namespace muster::simulation {

// One request of the controller, as it reaches the server.
struct Request {
  enum class Verb { List, Watch, Get, Create, Update, UpdateStatus, Remove };
  Verb verb = Verb::Get;
  api::Resource resource;
  api::ObjectKey key;
  json::Value body;              // of a write
  std::string uid;               // precondition
  std::string resource_version;  // precondition
  std::optional<std::int64_t> grace_seconds;

  [[nodiscard]] bool is_write() const {
    return verb == Verb::Create || verb == Verb::Update || verb == Verb::UpdateStatus ||
           verb == Verb::Remove;
  }
  [[nodiscard]] std::string text() const;
};

// A rank's process on the model node.
struct Process {
  std::string job_uid;
  std::string rank;  // Worker/0
  std::int64_t epoch = 0;
  std::int64_t attempt = 0;
  std::string pod_uid;
  int restarts = 0;  // in place
};

// Watches a run and says which promise was broken: S1–S7 and S9–S11 at the moment it happens, S12
// at rest. Every change that the controller can cause passes through before() and after(), every
// start of a process through started(), so nothing can go wrong between two looks. Lives as long as
// its server.
class Checker {
 public:
  // `loop` is the controller's: limits are about what its clock says.
  Checker(const rt::Loop& loop, const server::Core& core, std::set<api::Resource> jobs,
          History& history)
      : loop_(loop), core_(core), jobs_(std::move(jobs)), history_(history) {}

  // Right before the server acts on a request, and right after it did.
  void before(const Request& request);
  void after(const Request& request, const json::Value& answer);

  void started(const Process& process);
  // What a rank that starts reads of the others: its own address is where its number is.
  void was_told(const Process& process, const std::string& address, const json::Value& config);
  // The key that a rank reads: the same for all ranks of a job, ever.
  void was_given(const Process& process, const std::string& key);
  enum class End { Killed, Exited, Retryable, Disrupted };
  void ended(const Process& process, End end);
  // Somebody takes a pod of the job away, which may count as a failure.
  void taken(const std::string& job_uid) { ++failures_[job_uid]; }

  // The user asks for so many of a job's role; what is above the smallest wish may go.
  void wish(const std::string& job, const std::string& role, int replicas);

  // The controller's clock is about to be set: what it does in this moment, it decided by the old.
  void clock_is_set() { latest_ = std::max(latest_, loop_.now()); }

  // At rest: what a job says of itself is what a recount gives.
  void at_rest(const json::Value& job, const std::vector<api::ObjectPtr>& pods);

  void violation(std::string_view invariant, const std::string& what);
  [[nodiscard]] const std::vector<std::string>& violations() const { return violations_; }

  // What the controller did: names of pods and services created, uids of those deleted.
  [[nodiscard]] const std::vector<std::string>& created() const { return created_; }
  [[nodiscard]] const std::set<std::string>& deleted() const { return deleted_; }

 private:
  // As stored now; null when there is none.
  [[nodiscard]] api::ObjectPtr stored(const api::Resource& resource,
                                      const api::ObjectKey& key) const;
  [[nodiscard]] api::ObjectPtr job_of(const json::Value& child) const;
  void check_create(const Request& request);
  void check_status(const Request& request);
  void check_remove(const Request& request);
  void check_remove_job(const Request& request, const json::Value& job);
  [[nodiscard]] bool is_justified(const json::Value& child, bool is_pod) const;
  [[nodiscard]] bool is_surplus(const std::string& role, int index, const json::Value& job) const;
  [[nodiscard]] bool is_object_justified(const json::Value& object, const json::Value& job) const;
  // Whether a list of addresses is that of the pods.
  [[nodiscard]] bool tells_the_truth(const json::Value& config, const json::Value& job) const;
  // Of a role's pods, "(none)" where there is none.
  [[nodiscard]] std::vector<std::string> addresses_of(const json::Value& job,
                                                      const std::string& role) const;
  void check_transition(const json::Value& old, const json::Value& now);

  const rt::Loop& loop_;
  const server::Core& core_;
  std::set<api::Resource> jobs_;
  History& history_;
  Time latest_{};  // that a clock said which was set
  std::vector<std::string> violations_;
  std::map<std::pair<std::string, std::string>, Process> live_;  // by job uid and rank
  std::map<std::string, End> last_end_;                          // by job uid, rank and attempt
  std::map<std::string, std::int64_t> failures_;                 // by job uid: retryable ones
  api::ObjectPtr before_;                                        // the job, before a status write
  std::map<std::string, std::string> keys_;                      // by job uid
  std::map<std::pair<std::string, std::string>, int> fewest_;    // by job and role: smallest wish
  std::vector<std::string> created_;
  std::set<std::string> deleted_;
};

}  // namespace muster::simulation
