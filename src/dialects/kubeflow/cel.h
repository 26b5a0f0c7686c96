#pragma once

#include <vector>

#include "dialects/check/schema.h"
#include "dialects/kubeflow/kind.h"

namespace muster::dialects::kubeflow {

// The rules of a kind that an API server can check by itself. rules.cc says the same, and more.
std::vector<CelRule> cel_rules(const Kind& kind);

}  // namespace muster::dialects::kubeflow
