#pragma once

#include <string>

namespace muster::deploy {

enum class Reach { Cluster, Namespace };

// The images of this version, under the names that deploy/package gives them.
std::string operator_image();
std::string agent_image();

// The operator's Deployment and its PodDisruptionBudget, as YAML with comments.
std::string operator_yaml(Reach reach);

}  // namespace muster::deploy
