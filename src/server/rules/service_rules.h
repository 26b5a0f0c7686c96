#pragma once

#include "json/value.h"
#include "server/rules/addresses.h"
#include "server/rules/causes.h"

namespace muster::server {

void default_service(json::Value& service);
void check_service(const json::Value& service, Causes& causes);
// An address once given stays; an update that leaves it out means to keep it.
void keep_service_address(const json::Value& old, json::Value& service);
void check_service_update(const json::Value& old, const json::Value& service, Causes& causes);

// Gives the service its ClusterIP, or takes the one it asks for. Nothing for headless and
// ExternalName.
void assign_address(json::Value& service, Addresses& addresses, Causes& causes);
void release_address(const json::Value& service, Addresses& addresses);

}  // namespace muster::server
