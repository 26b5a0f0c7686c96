#pragma once

#include <map>
#include <string>

#include "plan/dialect.h"

namespace muster::deploy {

// What of the Helm chart follows from the kinds and the version: paths below deploy/helm/muster.
std::map<std::string, std::string> chart_files(const plan::Registry& registry);

}  // namespace muster::deploy
