#include <algorithm>

#include <fmt/format.h>

#include "api/object.h"
#include "server/core.h"
#include "server/rules/admission.h"

// Tokens of service accounts: given out, and known again.
namespace muster::server {

Result<net::SigningKey> Core::token_key() const {
  if (!token_key_) {
    token_key_ = TRY(token_key_pem_.empty() ? net::SigningKey::generate()
                                            : net::SigningKey::from_pem(token_key_pem_));
  }
  return *token_key_;
}

Result<Token> Core::create_token_now(const ObjectKey& account, const TokenRequest& request) {
  constexpr std::int64_t kShortest = 600;
  const auto key = TRY(token_key());
  Table& accounts = journal_.table(api::service_accounts());
  const ObjectPtr owner = accounts.find_head(account);
  if (owner == nullptr) return fail(not_found(accounts.kind(), account.name));
  TokenClaims claims{.audiences = request.audiences,
                     .ns = account.ns,
                     .account = account.name,
                     .account_uid = api::uid_of(*owner),
                     .id = make_uuid(rng_)};
  if (!request.pod_name.empty()) {
    Table& pods = journal_.table(api::pods());
    const ObjectPtr pod = pods.find_head({.ns = account.ns, .name = request.pod_name});
    if (pod == nullptr) return fail(not_found(pods.kind(), request.pod_name));
    TRY(check_preconditions(pods.kind(), *pod, request.pod_uid, ""));
    if ((*pod)["spec"]["serviceAccountName"].as_string() != account.name) {
      return fail(
          ErrorCode::BadRequest,
          fmt::format("cannot bind a token of service account {} to pod {}, which runs as {}",
                      account.name, request.pod_name,
                      (*pod)["spec"]["serviceAccountName"].as_string()));
    }
    claims.pod = request.pod_name;
    claims.pod_uid = api::uid_of(*pod);
  }
  if (claims.audiences.empty()) claims.audiences.emplace_back(kApiAudience);
  claims.issued = std::chrono::floor<std::chrono::seconds>(loop_.now());
  claims.expires =
      claims.issued + seconds_saturating(std::max(request.expiration_seconds, kShortest));
  return Token{.value = TRY(sign_token(key, claims)), .expires = format_time(claims.expires)};
}

Result<TokenClaims> Core::verify_token(std::string_view token) const {
  TokenClaims claims =
      TRY(server::verify_token(TRY(token_key()), token, kApiAudience, loop_.now()));
  const ObjectPtr owner =
      journal_.table(api::service_accounts()).find_seen({.ns = claims.ns, .name = claims.account});
  if (owner == nullptr || api::uid_of(*owner) != claims.account_uid)
    return fail(ErrorCode::Unauthorized, "token: its service account is gone");
  if (claims.pod.empty()) return claims;
  const ObjectPtr pod =
      journal_.table(api::pods()).find_seen({.ns = claims.ns, .name = claims.pod});
  if (pod == nullptr || api::uid_of(*pod) != claims.pod_uid)
    return fail(ErrorCode::Unauthorized, "token: its pod is gone");
  return claims;
}

}  // namespace muster::server
