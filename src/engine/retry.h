#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/time.h"
#include "engine/census.h"
#include "plan/ledger.h"
#include "plan/plan.h"

// When a failed rank is tried again.
namespace muster::engine {

// Whether the cluster took the pod away or its node refused or lost it. What the program did to
// itself is no disruption: a failed init container, its own storage limit, its own deadline.
bool is_disrupted(const PodView& pod);

// What the failure of a pod means under a rule; `main` is its main container, if it has one.
RankState after_failure(const plan::Retry& retry, const PodView& pod, const ContainerView* main);

// The ranks whose failure asks for a new pod.
std::vector<const Rank*> newly_failed(const Census& census);

// Writes a retry into the ledger: it must be stored before the failed pod is deleted.
void record_retry(plan::Ledger& ledger, const Rank& rank, Time now);

// Holds back new pods of the roles whose failures do that. Those that came before a success of
// their role, which is in `last_success` where it is news, hold back nobody.
void pause_roles(plan::Ledger& ledger, const std::vector<const Rank*>& failed_anew,
                 const std::map<std::string, Time>& last_success, Time now);

// Forgets retries whose new pod is running or ended, and those of ranks that the plan has no more.
void forget_recovered(plan::Ledger& ledger, const Census& census, const plan::Plan& plan);

// Nobody waits longer than this for another try.
inline constexpr Duration kLongestPause = std::chrono::minutes(10);
// How long after its n-th failure a rank is made anew: at once, then 1 s doubling to 5 min.
Duration retry_delay(std::int64_t attempt);
// How long after the n-th failure in a row a role makes no pod: 10 s doubling to 10 min, as it is
// for a batch/v1 Job.
Duration role_pause(std::int64_t failures_in_a_row);

}  // namespace muster::engine
