#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "json/value.h"
#include "node/runtime/types.h"

// The security contexts of a pod and its containers, as the runtime takes them. That their values
// can be obeyed was seen at admission.
namespace muster::node {

// Invalid: runAsNonRoot of a container that would be root.
Result<void> add_security(ContainerSpec& spec, const json::Value& pod,
                          const json::Value& container);

std::vector<std::pair<std::string, std::string>> sysctls_of(const json::Value& pod);
// With dots between its parts, however it was written.
std::string sysctl_name(std::string_view written);
// One of those that kubelets allow unasked.
bool is_safe_sysctl(std::string_view name);

}  // namespace muster::node
