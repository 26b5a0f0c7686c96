#pragma once

#include <string>
#include <vector>

#include "api/resource.h"
#include "base/error.h"
#include "plan/dialect.h"

namespace muster::cli {

// `jobs`, a kind's plural, singular or short name, or a built-in kind; Invalid with the known ones.
Result<std::vector<api::Resource>> resources_named(const plan::Registry& registry,
                                                   const std::string& name);

}  // namespace muster::cli
