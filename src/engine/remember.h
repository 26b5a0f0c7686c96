#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/time.h"
#include "engine/census.h"
#include "engine/observed.h"
#include "plan/ledger.h"
#include "plan/plan.h"

// What roles remember of ranks beyond the life of their pods (plan::Completion): who has succeeded,
// and whose pod was alive when we last looked.
namespace muster::engine {

struct Remembered {
  bool store_first = false;                  // before anything else is done
  std::map<std::string, Time> last_success;  // by role, of those that are news
};
Remembered remember(const plan::Plan& plan, const Census& census, plan::Ledger& ledger, Time now);

// Before a pod is sent away without having failed: its end will not count as a loss.
void forget_seen(plan::Ledger& ledger, const Rank& rank);

// Successes and failures of the ranks, whether their pods are there or not.
void count_remembered(const plan::Plan& plan, const Census& census, const plan::Ledger& ledger,
                      plan::Counts& counts);
// At the end: nobody runs any more, and pods that are stopped because the job has failed failed
// too.
void count_stopped(const plan::Plan& plan, plan::Phase phase, plan::Counts& counts);
// Pods that live or leave now.
void count_living(const plan::Plan& plan, const std::vector<PodView>& pods, plan::Counts& counts);

}  // namespace muster::engine
