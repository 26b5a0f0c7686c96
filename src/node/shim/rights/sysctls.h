#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "node/runtime/types.h"

namespace muster::node::shim {

// Where the kernel shows a sysctl of a namespace that a pod has of its own; an error for all
// others: those are the machine's. Names are written with dots, or with slashes where a part has
// dots in it.
Result<std::string> sysctl_file(std::string_view name, const SandboxSpec& pod);

// Those of the pod, written by the calling process, which is in the pod's namespaces.
Result<void> write_sysctls(const SandboxSpec& pod);

}  // namespace muster::node::shim
