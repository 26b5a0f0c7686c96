#pragma once

#include "json/value.h"
#include "server/rules/causes.h"

namespace muster::server {

// What is wrong with a pod, after defaulting.
void check_pod(const json::Value& pod, Causes& causes);
// A pod's spec stands once it is created, but for the few fields that may still change.
void check_pod_update(const json::Value& old, const json::Value& pod, Causes& causes);

}  // namespace muster::server
