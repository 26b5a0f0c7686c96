#include "controller/keys/ssh_key.h"

#include <openssl/evp.h>

#include <cstdint>
#include <memory>

#include "base/strings.h"
#include "controller/keys/random_bytes.h"

namespace muster::controller {
namespace {

constexpr std::string_view kType = "ssh-ed25519";
constexpr std::size_t kKeyBytes = 32;  // of the seed and of the public key
constexpr std::size_t kBlock = 8;      // the private part is padded to a multiple of it
constexpr std::size_t kLine = 70;

struct KeyDeleter {
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
};

Result<std::string> public_half(const Secret& seed) {
  const std::unique_ptr<EVP_PKEY, KeyDeleter> key(EVP_PKEY_new_raw_private_key(
      EVP_PKEY_ED25519, nullptr, reinterpret_cast<const unsigned char*>(seed.reveal().data()),
      seed.reveal().size()));
  std::string half(kKeyBytes, '\0');
  std::size_t size = half.size();
  if (!key || EVP_PKEY_get_raw_public_key(key.get(), reinterpret_cast<unsigned char*>(half.data()),
                                          &size) != 1) {
    return fail(ErrorCode::Internal, "an Ed25519 key cannot be made");
  }
  return half;
}

// The two types of the SSH protocol that key files are made of (RFC 4251 §5).
std::string number(std::uint32_t value) {
  std::string out;
  for (const unsigned shift : {24U, 16U, 8U, 0U}) out += static_cast<char>(value >> shift);
  return out;
}

std::string text(std::string_view bytes) {
  return number(static_cast<std::uint32_t>(bytes.size())) + std::string(bytes);
}

// Encrypted where there is a passphrase: the number that stands twice tells whether it was right.
std::string private_part(const Secret& seed, std::string_view half, std::string_view comment,
                         std::uint32_t check) {
  std::string out = number(check) + number(check) + text(kType) + text(half) +
                    text(seed.reveal() + std::string(half)) + text(comment);
  for (char pad = 1; out.size() % kBlock != 0; ++pad) out += pad;
  return out;
}

std::string armoured(std::string_view bytes) {
  const std::string encoded = base64_encode(bytes);
  std::string out = "-----BEGIN OPENSSH PRIVATE KEY-----\n";
  for (std::size_t at = 0; at < encoded.size(); at += kLine)
    out += encoded.substr(at, kLine) + "\n";
  return out + "-----END OPENSSH PRIVATE KEY-----\n";
}

}  // namespace

Result<SshKey> SshKey::make(Rng& rng, std::string_view comment) {
  const Secret seed = random_bytes(rng, kKeyBytes);
  const std::string half = TRY(public_half(seed));
  const std::string blob = text(kType) + text(half);
  const auto check = static_cast<std::uint32_t>(rng.next());
  std::string file("openssh-key-v1");
  file += '\0';
  file += text("none") + text("none") + text("");  // cipher, how its key is made, and from what
  file += number(1) + text(blob) + text(private_part(seed, half, comment, check));
  return SshKey{.private_key = Secret(armoured(file)),
                .public_key = std::string(kType) + " " + base64_encode(blob)};
}

}  // namespace muster::controller
