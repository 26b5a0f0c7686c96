#pragma once

#include <string>

#include "json/value.h"

namespace muster::cli {

// A pod for people: where it is, what its containers are and do, and what it waits for. Without its
// events.
std::string describe_pod(const json::Value& pod);

}  // namespace muster::cli
