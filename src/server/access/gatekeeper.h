#pragma once

#include <string>

#include "base/error.h"
#include "base/log.h"
#include "base/secret.h"
#include "net/http.h"
#include "server/access/rbac.h"
#include "server/core.h"
#include "server/http/request_path.h"

namespace muster::server {

// What a request wants to do, by its method and its path alone: what it names need not exist.
Action action_of(const std::string& method, const RequestPath& path);

// Who comes over the network, and whether that may be done. Bearer tokens only: the owner's, who
// may do everything, and those of service accounts. Asked for every request, on what is stored now;
// it keeps nothing. Lives on the core's loop; the core outlives it.
class Gatekeeper {
 public:
  Gatekeeper(const Core& core, Secret admin_token, Logger log)
      : core_(core), admin_token_(std::move(admin_token)), log_(std::move(log)) {}

  // Unauthorized without a token, or with one that is forged, has expired, or was bound to a pod or
  // a service account that is gone. The client is not told which.
  [[nodiscard]] Result<User> authenticate(const net::Headers& headers) const;
  // Forbidden, in Kubernetes' words.
  [[nodiscard]] Result<void> authorize(const User& user, const Action& action) const;

 private:
  [[nodiscard]] Result<User> service_account(std::string_view token) const;
  [[nodiscard]] bool allows(const User& user, const Action& action) const;

  const Core& core_;
  Secret admin_token_;
  Logger log_;
};

}  // namespace muster::server
