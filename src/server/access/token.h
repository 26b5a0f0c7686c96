#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/time.h"
#include "net/tls/signing.h"

// Service-account tokens: signed JWTs (ES256) that say whose they are, for whom and until when.
namespace muster::server {

// Who is meant when nobody is named.
inline constexpr std::string_view kApiAudience = "https://kubernetes.default.svc.cluster.local";
inline constexpr std::string_view kIssuer = "https://kubernetes.default.svc.cluster.local";
// Ours have about 900; what is longer is not looked at.
inline constexpr std::size_t kMaxTokenBytes = 8'192;

struct TokenClaims {
  std::vector<std::string> audiences;
  std::string ns;
  std::string account;
  std::string account_uid;
  std::string pod;  // the pod that it is bound to and dies with; empty: none
  std::string pod_uid;
  std::string id;  // of this token
  Time issued{};
  Time expires{};

  friend bool operator==(const TokenClaims&, const TokenClaims&) = default;
};

// What a token says, whether it is true or not; nothing of it counts before its signature. Seconds
// are all that tokens know of time.
struct ParsedToken {
  TokenClaims claims;
  std::string key_id;
  std::string signed_text;
  std::string signature;
};
// Unauthorized for anything but a token as sign_token() writes them.
Result<ParsedToken> parse_token(std::string_view text);

Result<std::string> sign_token(const net::SigningKey& key, const TokenClaims& claims);

// The claims of a token that this key signed, that is meant for the audience and has not expired.
// Unauthorized says which of them does not hold; for the log, not for the client.
Result<TokenClaims> verify_token(const net::SigningKey& key, std::string_view text,
                                 std::string_view audience, Time now);

}  // namespace muster::server
