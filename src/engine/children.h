#pragma once

#include <optional>

#include "engine/observed.h"
#include "json/value.h"
#include "plan/plan.h"

namespace muster::engine {

// The pod of a rank as it is sent to the API server; nothing while a late value is unknown.
// `ledger` is the one that will be stored by the time the pod is created.
std::optional<json::Value> make_pod(const plan::Plan& plan, const plan::Role& role, int index,
                                    const Observed& observed, const plan::Ledger& ledger);

json::Value make_object(const plan::Plan& plan, const plan::Object& object);

// The child of that kind and name, when we own one.
const ObjectView* find_object(const Observed& observed, const plan::Object& object);

}  // namespace muster::engine
