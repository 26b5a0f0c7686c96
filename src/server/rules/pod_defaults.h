#pragma once

#include <string_view>

#include "json/value.h"

namespace muster::server {

// Fills in what the real API server fills in when a pod is created.
void default_pod(json::Value& pod);
// The same for a pod that is about to replace another: whoever sends a pod without the defaulted
// fields did not mean to remove them.
void default_pod_spec(json::Value& spec);
// BestEffort, Burstable or Guaranteed.
std::string_view quality_of_service(const json::Value& spec);

}  // namespace muster::server
