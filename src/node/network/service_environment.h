#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "api/resource.h"
#include "node/agent/options.h"

namespace muster::node {

// The services as a pod in the machine's own network meets them: that of the API is where the
// machine has it.
std::vector<api::ObjectPtr> services_of_host(std::vector<api::ObjectPtr> services,
                                             const NodeOptions::Endpoint& api);

// The variables that every container gets for the services of its namespace (and for
// default/kubernetes always): NAME_SERVICE_HOST, NAME_SERVICE_PORT, NAME_PORT_80_TCP and so on.
// Headless services have none.
std::map<std::string, std::string> service_environment(const std::vector<api::ObjectPtr>& services,
                                                       std::string_view ns, bool links_enabled);

}  // namespace muster::node
