#pragma once

#include <vector>

#include "api/resource.h"
#include "json/value.h"
#include "node/runtime/runtime.h"

// Where services lead. Pure functions of services and pods.
namespace muster::node {

// The pods of the service's namespace that its selector takes; none without a selector.
std::vector<api::ObjectPtr> selected_pods(const json::Value& service,
                                          const std::vector<api::ObjectPtr>& pods);

// It has an address, runs, and is ready (or the service publishes addresses that are not).
bool serves(const json::Value& service, const json::Value& pod);

// One rule for each port of each service that has a ClusterIP, in the services' order; endpoints in
// the pods' order.
std::vector<ServiceRule> service_rules(const std::vector<api::ObjectPtr>& services,
                                       const std::vector<api::ObjectPtr>& pods);

}  // namespace muster::node
