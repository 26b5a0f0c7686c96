#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/resource.h"
#include "json/value.h"
#include "plan/value.h"

namespace muster::plan {

// Which job this is. The uid is its identity; a name may come back with another job behind it.
struct JobRef {
  api::Resource resource;
  std::string ns;
  std::string name;
  std::string uid;
  std::int64_t generation = 0;
};

JobRef job_ref(const api::Resource& resource, const json::Value& job);

// A child that is not a pod, among the children of one job.
struct ObjectId {
  api::Resource resource;
  std::string name;

  friend auto operator<=>(const ObjectId&, const ObjectId&) = default;
  friend bool operator==(const ObjectId&, const ObjectId&) = default;
};

// How long an object stays. Clean-up at the end takes what remains, unless every role keeps all of
// its pods then.
enum class Until {
  Hold,     // goes when the job is suspended
  End,      // outlives that
  JobGone,  // goes with the job itself
};

// What happens to an object that would be made in another way now, because a value changed or is
// not known any more.
enum class OnChange {
  Keep,
  // It gates containers: it goes at once, and is made anew when all its values are known. As long
  // as the old one is there no pod is made, so that nobody starts with what is no longer true.
  Replace,
};

// Where the content of an object comes from.
enum class Source {
  Body,  // the plan
  // Keys of the job, made when the object is sent: a Secret whose name carries the job's uid. It is
  // never read back: one of that name is ours.
  SharedKey,  // `key`: 32 random bytes as hex digits
  SshKeys,    // a user key and one host key for all of the job's hosts, as OpenSSH writes them
};

// A Service, ConfigMap, Secret and so on.
struct Object {
  ObjectId id;
  json::Value body;  // complete but for name, namespace, owner reference and values
  std::vector<Placed> values;
  std::string
      each_rank_of;  // a role: one for each of its ranks, named as its pod; id.name is empty
  OnChange on_change = OnChange::Keep;
  Until until = Until::Hold;
  bool ends_with_job = false;  // goes at the end even where every role keeps its pods
  Source source = Source::Body;

  // Nobody but the cluster's nodes sees it again: it can be made, not looked for, and stays until
  // the job is gone.
  [[nodiscard]] bool is_secret() const { return source != Source::Body; }
};

// A rank's try: how often it was made anew, in which run of the job.
struct Try {
  int rank = 0;
  std::int64_t attempt = 0;
  std::int64_t epoch = 0;
};

// How the pods of a role are called: STEM, STEM-INDEX, STEM-INDEX-ATTEMPT; with a salt
// STEM-xxxxx or STEM-INDEX-xxxxx, where the five characters are another five for every try.
struct NameRule {
  std::string stem;
  bool index = true;
  bool attempt = false;  // every try has a name of its own
  std::string salt;      // the job's uid

  [[nodiscard]] std::string name(int rank, std::int64_t tries) const;
  // With a salt. Five characters are few: of two tries with one name the second takes its next one.
  [[nodiscard]] std::string salted_name(const Try& which, int next = 0) const;
};

// Exit codes of the main container that ask for another try.
struct ExitCodes {
  std::vector<int> listed;
  int from = std::numeric_limits<int>::max();  // and all from here on

  [[nodiscard]] bool contains(int code) const;
};

// When the pod of a rank is made anew after it failed.
struct Retry {
  enum class On {
    Never,
    Disruption,     // the cluster took it away; what the program did itself is final
    RetryableCode,  // that, and certain exit codes
    AnyFailure,     // however it failed; a limit counts disruptions too
  };
  // What a failure holds back: the rank alone, or all new pods of the role until one succeeds.
  enum class Pause { Rank, Role };
  On on = On::Never;
  ExitCodes codes;
  bool without_code = false;  // a main container that never said how it ended is retried too
  bool keep_failed = false;   // the failed pod stays; its NameRule gives every try another name
  Pause pause = Pause::Rank;
  // So many tries more may the ranks of the role have together, counted as Plan::backoff_counts
  // says; one more ends the job. Beside Limits::backoff, which counts those of all roles.
  std::optional<std::int64_t> limit;
};

// For how long a success counts.
enum class Completion {
  WhilePodIsThere,
  ForGood,    // also when the pod is gone or the job was suspended; finished pods stay with it
  WorkQueue,  // the same, and once one rank has succeeded none is begun
};

// Which pods go when the job has ended.
enum class CleanUp { None, Running, All };

struct Role {
  std::string name;  // Worker
  int replicas = 0;
  NameRule pod_name;
  json::Value pod;  // raw template with all static injections done; unknown fields survive
  std::vector<Placed> values;
  // What takes their place once the job has been suspended and resumed.
  std::optional<json::Value> pod_resumed;
  std::vector<Placed> values_resumed;
  std::string main_container;
  std::vector<ObjectId> after;  // must exist before any pod of this role; secrets are made for it
  Retry retry;
  Completion completion = Completion::WhilePodIsThere;
  std::optional<int> max_active;  // so many pods at once, of all ranks
  // What its main container leaves as termination message in a line that begins with kRemark is
  // said when the job ends (Verdict::remark).
  bool remarks = false;
  CleanUp on_success = CleanUp::Running;
  CleanUp on_failure = CleanUp::Running;
  CleanUp on_limit = CleanUp::Running;

  // The template of its pods before or after a resume, and where values go in it.
  [[nodiscard]] const json::Value& pod_for(bool resumed) const {
    return resumed && pod_resumed ? *pod_resumed : pod;
  }
  [[nodiscard]] const std::vector<Placed>& values_for(bool resumed) const {
    return resumed && pod_resumed ? values_resumed : values;
  }
  // The kubelet starts containers again that ended, in the pod they were in.
  [[nodiscard]] bool restarts_in_place() const;
  [[nodiscard]] bool remembers() const { return completion != Completion::WhilePodIsThere; }
};

// Some ranks of a role, and what must have become of them.
struct RankSet {
  enum class Quorum {
    All,
    Index,
    AtLeast,
    AnyAndNoneLeft,  // one of them, and no pod that still runs or waits to
  };
  enum class Outcome { Succeeded, Failed, Finished, Running };
  std::string role;  // empty: it must hold for every role that has ranks
  Quorum quorum = Quorum::All;
  int number = 0;  // the index, or at least how many
  Outcome outcome = Outcome::Succeeded;
};

RankSet all_of(std::string role, RankSet::Outcome outcome);
RankSet all_of_every_role(RankSet::Outcome outcome);
RankSet any_of(std::string role, RankSet::Outcome outcome);
RankSet rank_of(std::string role, int index, RankSet::Outcome outcome);
RankSet any_and_none_left(std::string role, RankSet::Outcome outcome);

// Who wins when success and failure are satisfied at once.
enum class Tie {
  SuccessWins,
  FailureWins,
  LimitsWin,  // and a deadline or limit that is reached wins over either
};

struct Limits {
  std::optional<std::int64_t> deadline_seconds;
  std::optional<std::int64_t> ttl_seconds;
  std::optional<std::int64_t> backoff;

  friend bool operator==(const Limits&, const Limits&) = default;
};

// What the back-off limit counts.
enum class BackoffCounts {
  Restarts,    // of containers and pods together
  FailedPods,  // pods that failed; apart from them restarts in the pods that live
};

// Pods that start together or not at all.
struct Gang {
  int minimum = 0;
  // Of a scheduler with queues: in its queue the gang with the higher priority is first.
  std::string queue;
  std::int64_t priority = 0;
};

// Something the user should know although the job runs: an event of type Warning, once.
struct Warning {
  std::string reason;
  std::string message;
};

// What two kinds share; what only one kind has was compiled away by its dialect.
struct Plan {
  JobRef job;
  std::vector<Role> roles;  // declaration order of the kind
  std::vector<Object> objects;
  std::vector<RankSet> success;  // one satisfied entry decides
  std::vector<RankSet> failure;
  Tie tie = Tie::SuccessWins;
  RankSet running;  // the job is Running while this holds
  Limits limits;
  BackoffCounts backoff_counts = BackoffCounts::Restarts;
  std::optional<Gang> gang;
  bool hold = false;    // suspended: no pods, and only objects that outlive it
  std::string run_key;  // another key begins another epoch: pods of the old one go, none counts
  // What no edit may change any more once the job was looked at: path of the field and a hash of
  // it. For servers that neither check the CRD's rules nor are ours.
  std::map<std::string, std::string> fixed;
  std::string selector;        // of the pods that the scale subresource counts
  bool reports_ranks = false;  // the verdict is to list every rank that has a pod
  std::vector<Warning> warnings;

  [[nodiscard]] const Role* role(std::string_view name) const;
  [[nodiscard]] const Object* object(const ObjectId& id) const;  // null when there is none
  [[nodiscard]] int total_replicas() const;
};

// The labels under which we find our own again. Everything of ours lives under muster.dev/.
namespace labels {
inline constexpr std::string_view kJobUid = "muster.dev/job-uid";
inline constexpr std::string_view kRole = "muster.dev/role";
inline constexpr std::string_view kIndex = "muster.dev/index";
inline constexpr std::string_view kAttempt = "muster.dev/attempt";
inline constexpr std::string_view kEpoch = "muster.dev/epoch";
inline constexpr std::string_view kGang = "muster.dev/gang";
inline constexpr std::string_view kGangSize = "muster.dev/gang-size";
inline constexpr std::string_view kQueue = "muster.dev/queue";
inline constexpr std::string_view kPriority = "muster.dev/priority";
}  // namespace labels

// What was written into an object that is replaced when it changes, as a hash.
inline constexpr std::string_view kContentAnnotation = "muster.dev/content";

// "true" suspends a job of a kind that has no field for it.
inline constexpr std::string_view kSuspendAnnotation = "muster.dev/suspend";

// How the line of a termination message begins that is meant for the job's user.
inline constexpr std::string_view kRemark = "muster: ";

// Written by the CLI on a job for the local cluster: the submitter's PATH and the like, as JSON.
inline constexpr std::string_view kEnvironmentAnnotation = "muster.dev/environment";

// Whom spec.managedBy names when the job is ours.
inline constexpr std::string_view kManagedBy = "muster.dev/operator";

}  // namespace muster::plan
