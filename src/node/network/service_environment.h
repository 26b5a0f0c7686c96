#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "api/resource.h"

namespace muster::node {

// The variables that every container gets for the services of its namespace (and for
// default/kubernetes always): NAME_SERVICE_HOST, NAME_SERVICE_PORT, NAME_PORT_80_TCP and so on.
// Headless services have none.
std::map<std::string, std::string> service_environment(const std::vector<api::ObjectPtr>& services,
                                                       std::string_view ns, bool links_enabled);

}  // namespace muster::node
