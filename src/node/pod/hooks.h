#pragma once

#include <string>

#include "base/error.h"
#include "base/time.h"
#include "json/value.h"
#include "node/pod/subject.h"
#include "rt/task.h"

namespace muster::node {

// One of a container's lifecycle hooks: a while to wait, or a program in it. An error says how it
// went wrong, or that it took longer than the limit.
Task<Result<void>> run_hook(PodSubject& subject, std::string container, json::Value hook,
                            Duration limit);

}  // namespace muster::node
