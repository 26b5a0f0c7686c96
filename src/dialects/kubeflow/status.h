#pragma once

#include "base/time.h"
#include "dialects/kubeflow/texts.h"
#include "json/value.h"
#include "plan/dialect.h"

namespace muster::dialects::kubeflow {

// The kind's part of the new status: conditions, replicaStatuses and times. What others wrote into
// the stored one stays; conditions and replicaStatuses are always there, because the schema demands
// them.
json::Value make_status(const Texts& texts, const plan::Plan& plan, const json::Value& stored,
                        const plan::Verdict& verdict, Time now);

// What the conditions of a stored status say, whoever wrote them.
plan::StoredPhase phase_of(const json::Value& status);

}  // namespace muster::dialects::kubeflow
