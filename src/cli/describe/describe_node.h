#pragma once

#include <string>

#include "cli/jobs/listing.h"
#include "json/value.h"

namespace muster::cli {

// A node for people: how it is, what it has, and which pods take how much of that. Without its
// events.
std::string describe_node(const json::Value& node, const Objects& pods);

}  // namespace muster::cli
