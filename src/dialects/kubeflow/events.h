#pragma once

#include <optional>

#include "dialects/kubeflow/texts.h"
#include "plan/plan.h"
#include "plan/verdict.h"

namespace muster::dialects::kubeflow {

// The event for a note: type, reason and message, as users of the Kubeflow operators know them.
std::optional<plan::EventText> event_for(const Texts& texts, const plan::JobRef& job,
                                         const plan::Note& note);

}  // namespace muster::dialects::kubeflow
