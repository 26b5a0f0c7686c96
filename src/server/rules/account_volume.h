#pragma once

#include "base/random.h"
#include "json/value.h"

// The volume through which a pod has its service account's token, the API's CA and its own
// namespace.
namespace muster::server {

inline constexpr const char* kAccountDirectory = "/var/run/secrets/kubernetes.io/serviceaccount";

// The pod's automountServiceAccountToken, else the account's, else yes.
bool wants_account_token(const json::Value& pod, const json::Value& account);

// Mounts it in every container that has nothing of its own at that path.
void mount_account_token(json::Value& pod, Rng& rng);

}  // namespace muster::server
