// Any bytes as a bearer token: nothing crashes, and nothing but what our key signed is ever valid.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "server/access/token.h"

namespace {

using namespace muster;

const net::SigningKey& key() {
  static const net::SigningKey made = *net::SigningKey::generate();
  return made;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto parsed = server::parse_token(text);
  if (parsed && (parsed->claims.ns.empty() || parsed->claims.account.empty())) std::abort();
  const Time now = Time(std::chrono::seconds(1'790'000'000));
  if (server::verify_token(key(), text, server::kApiAudience, now)) std::abort();
  if (!parsed) return 0;
  // What could be read is written and read back as the same.
  auto claims = parsed->claims;
  const auto again = server::parse_token(*server::sign_token(key(), claims));
  if (again && !(again->claims == claims)) std::abort();
  return 0;
}
