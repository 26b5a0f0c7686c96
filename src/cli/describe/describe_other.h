#pragma once

#include <string>

#include "json/value.h"

namespace muster::cli {

// What is neither a job nor a pod nor a node: its YAML. Of a Secret only how long its values are.
std::string describe_other(const json::Value& object);

}  // namespace muster::cli
