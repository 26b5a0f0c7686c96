#include "server/access/gatekeeper.h"

#include <fmt/format.h>

#include "api/object.h"
#include "base/strings.h"
#include "net/tls/signing.h"

namespace muster::server {
namespace {

Error unauthorized() {
  return {.code = ErrorCode::Unauthorized,
          .message = "Unauthorized",
          .causes = {},
          .retry_after = std::nullopt};
}

std::string verb_of(const std::string& method, const RequestPath& path) {
  const bool named = !path.name.empty();
  if (method == "GET" || method == "HEAD") {
    if (path.query.flag("watch") && path.subresource.empty()) return "watch";
    return named ? "get" : "list";
  }
  if (method == "POST") return "create";
  if (method == "PUT") return "update";
  if (method == "PATCH") return "patch";
  if (method == "DELETE") return named ? "delete" : "deletecollection";
  return to_lower(method);
}

// A list or watch of one name is about that one.
std::string name_in_selector(const RequestPath& path) {
  constexpr std::string_view kPrefix = "metadata.name=";
  std::string_view fields = path.query.get("fieldSelector");
  if (!fields.starts_with(kPrefix) || fields.contains(',')) return {};
  fields.remove_prefix(kPrefix.size());
  if (fields.starts_with('=')) fields.remove_prefix(1);
  return std::string(fields);
}

}  // namespace

Action action_of(const std::string& method, const RequestPath& path) {
  if (!path.is_resource) return {.verb = to_lower(method), .path = path.text};
  Action action{.verb = verb_of(method, path),
                .group = path.group,
                .resource = path.plural,
                .subresource = path.subresource,
                .ns = path.ns,
                .name = path.name};
  if (action.name.empty() && (action.verb == "list" || action.verb == "watch"))
    action.name = name_in_selector(path);
  // A namespace counts as lying in itself.
  if (action.group.empty() && action.resource == "namespaces" && !action.name.empty())
    action.ns = action.name;
  return action;
}

Result<User> Gatekeeper::authenticate(const net::Headers& headers) const {
  constexpr std::string_view kScheme = "bearer ";
  const std::string_view header = trim(headers.get("Authorization").value_or(""));
  if (header.size() <= kScheme.size() ||
      !equal_ignoring_case(header.substr(0, kScheme.size()), kScheme)) {
    return fail(unauthorized());
  }
  const std::string_view token = trim(header.substr(kScheme.size()));
  if (!admin_token_.empty() && net::equal_secrets(token, admin_token_.reveal()))
    return User{.name = "muster:admin",
                .groups = {"system:masters", "system:authenticated"},
                .admin = true};
  auto user = service_account(token);
  if (user) return user;
  log_.debug("refused: {}", user.error().message);
  return fail(unauthorized());
}

Result<User> Gatekeeper::service_account(std::string_view token) const {
  const TokenClaims claims = TRY(core_.verify_token(token));
  return service_account_user(claims.ns, claims.account);
}

bool Gatekeeper::allows(const User& user, const Action& action) const {
  const RoleObjects objects{.roles = core_.objects(api::roles()),
                            .cluster_roles = core_.objects(api::cluster_roles()),
                            .role_bindings = core_.objects(api::role_bindings()),
                            .cluster_role_bindings = core_.objects(api::cluster_role_bindings())};
  return is_allowed(objects, user, action);
}

Result<void> Gatekeeper::authorize(const User& user, const Action& action) const {
  const auto require = [&](const Action& wanted) -> Result<void> {
    if (allows(user, wanted)) return {};
    return fail(ErrorCode::Forbidden, forbidden_message(user, wanted));
  };
  TRY(require(action));
  // A WebSocket is asked for with GET, but it starts a program all the same.
  if (action.group.empty() && action.resource == "pods" && action.subresource == "exec") {
    Action start = action;
    start.verb = "create";
    TRY(require(start));
  }
  // Who could write roles or bindings at will could grant himself everything.
  const bool writes = action.verb == "create" || action.verb == "update" || action.verb == "patch";
  if (action.group != api::roles().group || !writes) return {};
  const bool binding = action.resource.ends_with("bindings");
  for (const char* resource : {"roles", "clusterroles"}) {
    const bool concerns = binding || action.resource == resource;
    if (!concerns) continue;
    TRY(require({.verb = binding ? "bind" : "escalate",
                 .group = action.group,
                 .resource = resource,
                 .ns = action.ns}));
  }
  return {};
}

}  // namespace muster::server
