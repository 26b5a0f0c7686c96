#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "agent/environment.h"
#include "agent/mpi/tally/report.h"
#include "base/error.h"

namespace muster::agent::mpi {

// What is known of the hosts and ranks of one mpirun.
struct Counts {
  std::set<std::string> ran;                          // hosts, by their short names
  std::set<std::string> unobserved;                   // hosts whose daemon went its own way
  std::map<int, std::pair<std::string, int>> failed;  // rank → host, exit code

  friend bool operator==(const Counts&, const Counts&) = default;
};

Counts read_counts(std::string_view text);
std::string write_counts(const Counts& counts);
// A rank that failed and was started again counts as what it became.
void apply(Counts& counts, const RankReport& report);

// What there is to say at the end, for people; empty: every host ran a rank and none failed.
std::string remark_on(const Counts& counts, const std::vector<std::string>& hosts);

// The text of a termination message with our line in place of an older one; empty: without.
std::string with_remark(std::string_view message, std::string_view remark);

// Shared by the processes that one mpirun starts in the launcher's container: a file of its own,
// and the line in the container's termination message that always says what holds by now.
class Tally {
 public:
  // The hosts are those of MUSTER_MPI_HOSTFILE, or of Open MPI's own variable.
  static Tally of_parent(const Environment& environment);

  Result<void> note(const RankReport& report);
  void expect(const std::string& host, bool observed);

 private:
  Tally(std::vector<std::string> paths, std::string hostfile, std::string unheard)
      : paths_(std::move(paths)), hostfile_(std::move(hostfile)), unheard_(std::move(unheard)) {}

  template <class Change>
  Result<void> change(Change change) const;

  std::vector<std::string> paths_;  // the first that can be made
  std::string hostfile_;
  std::string unheard_;  // this host, when ranks that mpirun starts itself tell nothing; or empty
};

}  // namespace muster::agent::mpi
