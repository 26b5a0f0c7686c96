#pragma once

#include <optional>
#include <vector>

#include "api/resource.h"
#include "json/value.h"
#include "node/agent/options.h"
#include "node/runtime/runtime.h"

// Where services lead. Pure functions of services and pods.
namespace muster::node {

// The pods of the service's namespace that its selector takes; none without a selector.
std::vector<api::ObjectPtr> selected_pods(const json::Value& service,
                                          const std::vector<api::ObjectPtr>& pods);

// It has an address, runs, and is ready (or the service publishes addresses that are not).
bool serves(const json::Value& service, const json::Value& pod);

// The service by which pods find the API.
bool is_api_service(const json::Value& service);

// One rule for each port of each service that has a ClusterIP, in the services' order; endpoints in
// the pods' order. `api` is where the API's own service leads.
std::vector<ServiceRule> service_rules(const std::vector<api::ObjectPtr>& services,
                                       const std::vector<api::ObjectPtr>& pods,
                                       const std::optional<NodeOptions::Endpoint>& api);

}  // namespace muster::node
