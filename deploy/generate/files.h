#pragma once

#include <map>
#include <string>

#include "plan/dialect.h"

namespace muster::deploy {

// Every generated file of deploy/: its path below that folder, and its text.
std::map<std::string, std::string> files_for(const plan::Registry& registry);

}  // namespace muster::deploy
