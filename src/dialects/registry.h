#pragma once

#include <string>

#include "base/version.h"
#include "plan/dialect.h"

namespace muster::dialects {

// What flags say and plans repeat.
struct Settings {
  // Of the in-pod agent, for kinds whose pods bring it along.
  std::string agent_image = "muster.dev/muster-agent:" + std::string(kVersion);
};

// Every kind that this program knows: one row each.
plan::Registry make_registry(const Settings& settings = {});

}  // namespace muster::dialects
