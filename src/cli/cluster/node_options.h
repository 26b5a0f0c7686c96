#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "cli/context.h"
#include "node/agent/options.h"

// What this machine has, as a node.
namespace muster::cli {

// cpu, memory, GPUs and host name of this machine; images.yaml of the home; the muster-agent beside
// this program, whose absence is logged.
Result<node::NodeOptions> node_options(const Context& context, const std::string& name);

// A host name as the name of a node: lower case, and '-' for what a name may not have.
std::string node_name(std::string_view host);
// This machine's.
std::string node_name();

// The muster-shim program beside this one.
Result<std::string> find_shim();

}  // namespace muster::cli
