#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/time.h"
#include "cli/context.h"
#include "rt/task.h"

namespace muster::cli {

// Whether a cluster has a job kind as this program knows it.
struct KindFact {
  enum class State { Same, Absent, Old, Unknown };
  std::string name;  // trainjobs.example.org
  State state = State::Unknown;
  std::vector<std::string> lacking;  // of an old one
};

// Something that a user wants to do, and whether he may.
struct RightFact {
  std::string verb;
  std::string resource;  // pods/log, trainjobs.example.org
  bool needed = true;    // to run a job and follow it; else for a single command
  bool allowed = false;
};

// What there is to know of a cluster for somebody who wants to run jobs on it.
struct ClusterFacts {
  std::string where;  // cluster kind-ml (https://127.0.0.1:6443)
  std::string ns;
  Time now;                          // here
  std::optional<Error> unreachable;  // then nothing below is known but the own certificate
  std::string server_version;        // as v1.34.1
  std::optional<Time> server_time;
  std::optional<Time> server_certificate_ends;
  std::optional<Time> own_certificate_ends;  // none: the user has no certificate
  std::optional<Error> refused;              // who we are; then nothing below is known
  std::string user;
  std::vector<KindFact> kinds;
  std::vector<RightFact> rights;
  std::string leader;           // who holds the operator's lease; empty: nobody
  bool leader_unknown = false;  // not ours to read
};

// Asks the cluster that the flags name. An error: there is nothing that could be asked.
Task<Result<ClusterFacts>> look_at_cluster(Context& context);

// Mon, 16 Nov 2026 17:00:00 GMT
std::optional<Time> parse_http_date(const std::string& text);

}  // namespace muster::cli
