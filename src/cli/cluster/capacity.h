#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"

// Resources that a machine does not have and its node offers nevertheless, for tests.
namespace muster::cli {

using Capacity = std::map<std::string, std::int64_t>;  // nvidia.com/gpu → 4

// nvidia.com/gpu=4. Only extended resources: cpu and memory are what the machine has.
Result<std::pair<std::string, std::int64_t>> parse_capacity(std::string_view text);

// nvidia.com/gpu=4, not real
std::string describe(const Capacity& capacity);

}  // namespace muster::cli
