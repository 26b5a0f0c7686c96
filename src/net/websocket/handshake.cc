#include "net/websocket/handshake.h"

#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <cstring>

#include <fmt/format.h>

#include "base/strings.h"

namespace muster::net {

namespace {

constexpr std::string_view kVersion = "13";
constexpr std::size_t kKeyBytes = 16;
// The constant of RFC 6455 §1.3.
constexpr std::string_view kSalt = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

// The proof that the key was read as one of a WebSocket; SHA-1 is what the protocol fixes, nothing
// is kept secret by it.
std::string proof_of(std::string_view key) {
  const std::string text = fmt::format("{}{}", key, kSalt);
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  EVP_Digest(text.data(), text.size(), digest.data(), &size, EVP_sha1(), nullptr);
  return base64_encode({reinterpret_cast<const char*>(digest.data()), size});
}

std::vector<std::string> offered_subprotocols(const Headers& headers) {
  std::vector<std::string> offered;
  for (const auto& field : headers) {
    if (!equal_ignoring_case(field.name, "Sec-WebSocket-Protocol")) continue;
    for (const auto part : split(field.value, ',')) offered.emplace_back(trim(part));
  }
  return offered;
}

}  // namespace

bool asks_for_upgrade(const HttpRequest& request) {
  return request.headers.has_token("Connection", "Upgrade") && request.headers.has("Upgrade");
}

bool asks_for_web_socket(const HttpRequest& request) {
  return asks_for_upgrade(request) && request.headers.has_token("Upgrade", "websocket");
}

std::optional<std::string> choose_subprotocol(const HttpRequest& request,
                                              const std::vector<std::string>& ours) {
  const auto offered = offered_subprotocols(request.headers);
  for (const auto& protocol : ours) {
    if (std::ranges::find(offered, protocol) != offered.end()) return protocol;
  }
  return std::nullopt;
}

Result<Headers> acceptance_of(const HttpRequest& request, const std::string& subprotocol) {
  if (!asks_for_web_socket(request))
    return fail(ErrorCode::BadRequest, "the request does not ask for a WebSocket");
  if (request.headers.get("Sec-WebSocket-Version") != kVersion)
    return fail(ErrorCode::BadRequest, "Sec-WebSocket-Version must be 13");
  const auto key = request.headers.get("Sec-WebSocket-Key").value_or("");
  const auto decoded = base64_decode(key);
  if (!decoded || decoded->size() != kKeyBytes)
    return fail(ErrorCode::BadRequest, "Sec-WebSocket-Key must be 16 bytes in base64");
  Headers headers{{"Upgrade", "websocket"}, {"Sec-WebSocket-Accept", proof_of(key)}};
  if (!subprotocol.empty()) headers.add("Sec-WebSocket-Protocol", subprotocol);
  return headers;
}

std::string offer_web_socket(HttpRequest& request, const std::vector<std::string>& subprotocols,
                             Rng& rng) {
  std::string bytes(kKeyBytes, '\0');
  for (std::size_t at = 0; at < bytes.size(); at += sizeof(std::uint64_t)) {
    const std::uint64_t random = rng.next();
    std::memcpy(bytes.data() + at, &random, sizeof random);
  }
  std::string key = base64_encode(bytes);
  request.headers.set("Upgrade", "websocket");
  request.headers.set("Sec-WebSocket-Version", std::string(kVersion));
  request.headers.set("Sec-WebSocket-Key", key);
  if (!subprotocols.empty())
    request.headers.set("Sec-WebSocket-Protocol", join(subprotocols, ", "));
  return key;
}

Result<std::string> check_web_socket_answer(int status, const Headers& headers,
                                            const std::string& key,
                                            const std::vector<std::string>& offered) {
  if (status != 101 || !headers.has_token("Connection", "Upgrade") ||
      !headers.has_token("Upgrade", "websocket"))
    return fail(ErrorCode::Parse, "the server did not change to a WebSocket");
  if (headers.get("Sec-WebSocket-Accept") != proof_of(key))
    return fail(ErrorCode::Parse, "the server answered to another WebSocket request than ours");
  if (headers.has("Sec-WebSocket-Extensions"))
    return fail(ErrorCode::Parse, "the server uses a WebSocket extension that was not offered");
  std::string chosen(headers.get("Sec-WebSocket-Protocol").value_or(""));
  if (!chosen.empty() && std::ranges::find(offered, chosen) == offered.end())
    return fail(ErrorCode::Parse, fmt::format("the server chose the subprotocol \"{}\", which was "
                                              "not offered",
                                              printable(chosen)));
  return chosen;
}

}  // namespace muster::net
