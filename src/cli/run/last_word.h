#pragma once

#include <optional>

#include "cli/jobs/followed.h"
#include "cli/jobs/job_follower.h"

namespace muster::cli {

// How a job that is followed ended; nothing while it has not, or when it was deleted before. One
// that goes as soon as it ends (ttlSecondsAfterFinished: 0) may be gone before anybody saw its end:
// then its pods have the last word.
std::optional<JobView> last_word(const Followed& followed, const JobFollower& follower);

}  // namespace muster::cli
