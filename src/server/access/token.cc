#include "server/access/token.h"

#include <algorithm>
#include <chrono>
#include <optional>

#include <fmt/format.h>

#include "base/strings.h"
#include "json/read.h"
#include "json/value.h"
#include "json/write.h"

namespace muster::server {
namespace {

std::string encode(std::string_view bytes) {
  std::string text = base64_encode(bytes);
  std::ranges::replace(text, '+', '-');
  std::ranges::replace(text, '/', '_');
  while (text.ends_with('=')) text.pop_back();
  return text;
}

std::optional<std::string> decode(std::string_view text) {
  std::string plain(text);
  for (char& c : plain) {
    // The other alphabet, blanks and padding are not for tokens.
    if (c == '+' || c == '/' || c == '=' || c == '\n' || c == '\r') return std::nullopt;
    if (c == '-') c = '+';
    if (c == '_') c = '/';
  }
  plain.append((4 - plain.size() % 4) % 4, '=');
  return base64_decode(plain);
}

std::int64_t seconds_of(Time time) {
  return std::chrono::duration_cast<std::chrono::seconds>(time.time_since_epoch()).count();
}

Time time_at(std::int64_t seconds) {
  // Nanoseconds end in 2262; nobody's token lasts that long.
  constexpr std::int64_t kLast = 9'000'000'000;
  return Time(std::chrono::seconds(std::clamp<std::int64_t>(seconds, 0, kLast)));
}

std::unexpected<Error> refuse(std::string_view why) {
  return fail(ErrorCode::Unauthorized, fmt::format("token: {}", why));
}

std::string subject_of(const TokenClaims& claims) {
  return fmt::format("system:serviceaccount:{}:{}", claims.ns, claims.account);
}

Result<json::Value> read_part(std::string_view part) {
  const auto bytes = decode(part);
  if (!bytes) return refuse("a part is not base64url");
  auto value = json::read(*bytes);
  if (!value || !value->is_object()) return refuse("a part is not a JSON object");
  return value;
}

Result<TokenClaims> read_claims(const json::Value& body) {
  const json::Value& bound = body["kubernetes.io"];
  TokenClaims claims{.ns = bound["namespace"].as_string(),
                     .account = bound["serviceaccount"]["name"].as_string(),
                     .account_uid = bound["serviceaccount"]["uid"].as_string(),
                     .pod = bound["pod"]["name"].as_string(),
                     .pod_uid = bound["pod"]["uid"].as_string(),
                     .id = body["jti"].as_string()};
  for (const json::Value& audience : body["aud"].as_array())
    claims.audiences.push_back(audience.as_string());
  for (const char* field : {"iat", "nbf", "exp"}) {
    if (!body[field].is_int()) return refuse(fmt::format("{} is not a number", field));
  }
  claims.issued = time_at(body["iat"].as_int());
  claims.expires = time_at(body["exp"].as_int());
  const bool whole = !claims.ns.empty() && !claims.account.empty() && !claims.account_uid.empty() &&
                     claims.pod.empty() == claims.pod_uid.empty();
  if (!whole) return refuse("it does not say whose it is");
  if (body["sub"].as_string() != subject_of(claims)) return refuse("it names two subjects");
  if (body["iss"].as_string() != kIssuer) return refuse("another issuer's");
  if (time_at(body["nbf"].as_int()) != claims.issued) return refuse("not one of ours");
  return claims;
}

}  // namespace

Result<ParsedToken> parse_token(std::string_view text) {
  if (text.size() > kMaxTokenBytes) return refuse("too long");
  const auto parts = split(text, '.');
  if (parts.size() != 3) return refuse("not three parts");
  const json::Value head = TRY(read_part(parts[0]));
  // The algorithm is ours to choose: "none", or a hash keyed with something public, is no
  // signature.
  if (head["alg"].as_string() != "ES256") return refuse("not signed with ES256");
  if (!head["crit"].is_null()) return refuse("it asks for what we do not know");
  auto signature = decode(parts[2]);
  if (!signature) return refuse("the signature is not base64url");
  const json::Value body = TRY(read_part(parts[1]));
  return ParsedToken{.claims = TRY(read_claims(body)),
                     .key_id = head["kid"].as_string(),
                     .signed_text = std::string(text.substr(0, text.rfind('.'))),
                     .signature = std::move(*signature)};
}

Result<std::string> sign_token(const net::SigningKey& key, const TokenClaims& claims) {
  const json::Value head = json::Object{{"alg", "ES256"}, {"kid", key.id()}, {"typ", "JWT"}};
  json::Array audiences;
  for (const std::string& audience : claims.audiences) audiences.emplace_back(audience);
  json::Value body = json::Object{{"aud", std::move(audiences)},
                                  {"exp", seconds_of(claims.expires)},
                                  {"iat", seconds_of(claims.issued)},
                                  {"iss", kIssuer},
                                  {"jti", claims.id},
                                  {"nbf", seconds_of(claims.issued)},
                                  {"sub", subject_of(claims)}};
  json::Value& bound = body["kubernetes.io"];
  bound["namespace"] = claims.ns;
  bound["serviceaccount"] = json::Object{{"name", claims.account}, {"uid", claims.account_uid}};
  if (!claims.pod.empty())
    bound["pod"] = json::Object{{"name", claims.pod}, {"uid", claims.pod_uid}};
  const std::string text = encode(json::write(head)) + "." + encode(json::write(body));
  return text + "." + encode(TRY(key.sign(text)));
}

Result<TokenClaims> verify_token(const net::SigningKey& key, std::string_view text,
                                 std::string_view audience, Time now) {
  ParsedToken token = TRY(parse_token(text));
  if (token.key_id != key.id()) return refuse("signed with another key");
  if (!key.verify(token.signed_text, token.signature)) return refuse("the signature is wrong");
  if (std::ranges::find(token.claims.audiences, audience) == token.claims.audiences.end())
    return refuse("meant for another audience");
  if (now >= token.claims.expires) return refuse("expired");
  if (now < token.claims.issued - std::chrono::seconds(60)) return refuse("not valid yet");
  return std::move(token.claims);
}

}  // namespace muster::server
