#pragma once

#include <optional>

#include "base/time.h"
#include "plan/ledger.h"

// How long a job may be active, and how long it stays after its end.
namespace muster::engine {

// When the job has been active for too long; nothing without a limit, before the start, and while
// it is suspended.
std::optional<Time> deadline_of(const plan::Ledger& ledger);

// When an ended job is to be deleted; nothing when it stays.
std::optional<Time> expiry_of(const plan::Ledger& ledger);

}  // namespace muster::engine
