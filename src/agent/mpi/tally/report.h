#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/verbs.h"

// How the launcher's container learns what became of every rank: `rank` tells the agent of its
// container, that tells the `rsh` that started its daemon, and so on up to the launcher's. mpirun
// itself keeps silent when it was told to bear failures, and of hosts that had nothing to do.
namespace muster::agent::mpi {

// Set by `run` for what it starts: "@name:session", where to tell and by whose order.
inline constexpr auto kReportVariable = "MUSTER_MPI_REPORT";

// What Open MPI puts before the command of every rank, and what we have it put there unless
// somebody else needs it.
inline constexpr auto kForkAgentVariable = "OMPI_MCA_orte_fork_agent";
std::vector<std::string> fork_agent_variables(const Environment& environment);

struct RankReport {
  std::uint64_t number = 0;  // by which it is answered
  std::string session;       // empty between agents
  std::string host;          // as mpirun calls it; empty: the one that the report comes from
  int rank = 0;
  std::optional<int> code;  // nothing: it started

  friend bool operator==(const RankReport&, const RankReport&) = default;
};

std::string encode_report(const RankReport& report);
std::optional<RankReport> decode_report(std::string_view payload);

// The next one on the way up.
class ReportSink {
 public:
  ReportSink() = default;
  ReportSink(const ReportSink&) = delete;
  ReportSink& operator=(const ReportSink&) = delete;
  virtual ~ReportSink() = default;

  // Ends when the launcher's container knows it.
  virtual Task<Result<void>> note(RankReport report) = 0;
  // A daemon is being started there; what becomes of it will be told, or cannot be.
  virtual void expect(const std::string& host, bool observed) = 0;
};

// The agent of this container, when this process runs by its order; else the tally of mpirun, which
// is this process's parent.
std::unique_ptr<ReportSink> find_sink(VerbContext& context);

}  // namespace muster::agent::mpi
