#pragma once

#include "json/value.h"
#include "server/kinds.h"
#include "server/rules/causes.h"

// Roles, ClusterRoles and their bindings: what is filled in and what is refused.
namespace muster::server {

bool is_role(const Kind& kind);
bool is_role_binding(const Kind& kind);

void default_role_binding(json::Value& binding);
void check_role(const Kind& kind, const json::Value& role, Causes& causes);
void check_role_binding(const Kind& kind, const json::Value& binding, Causes& causes);
// What a binding grants is fixed; only to whom may change.
void check_role_binding_update(const json::Value& old, const json::Value& binding, Causes& causes);

}  // namespace muster::server
