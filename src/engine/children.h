#pragma once

#include <optional>

#include "engine/action.h"
#include "engine/observed.h"
#include "json/value.h"
#include "plan/plan.h"

namespace muster::engine {

// How to make the pod of a rank; nothing while a late value is unknown.
std::optional<CreatePod> plan_pod(const plan::Plan& plan, const plan::Role& role, int index,
                                  const Observed& observed, const plan::Ledger& ledger);

// A pod as it is sent to the API server.
json::Value make_pod(const plan::Plan& plan, const CreatePod& pod);

json::Value make_object(const plan::Plan& plan, const plan::Object& object);

// The child of that kind and name, when we own one.
const ObjectView* find_object(const Observed& observed, const plan::Object& object);

}  // namespace muster::engine
