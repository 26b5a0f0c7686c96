#pragma once

#include <optional>
#include <string>

#include "engine/observed.h"
#include "plan/verdict.h"

namespace muster::engine {

// What the server's refusals of the last wave mean for the job.
struct RefusalMeaning {
  std::optional<plan::Cause> fatal;  // the job cannot go on
  std::string waiting_for;           // it may later: quota, a name that is being freed
  bool stop = false;                 // the namespace is going away: do nothing more
};

RefusalMeaning weigh(const std::vector<Refusal>& refusals);

}  // namespace muster::engine
