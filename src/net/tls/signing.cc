#include "net/tls/signing.h"

#include <openssl/bn.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <array>

#include <fmt/format.h>

#include "net/tls/internal.h"

namespace muster::net {

struct SigningKey::Impl {
  KeyPointer key;
  std::string id;
};

namespace {

constexpr int kHalf = 32;  // bytes of each of the two numbers of a signature

struct DigestDeleter {
  void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
};
using DigestPointer = std::unique_ptr<EVP_MD_CTX, DigestDeleter>;

struct SignatureDeleter {
  void operator()(ECDSA_SIG* signature) const { ECDSA_SIG_free(signature); }
};
using SignaturePointer = std::unique_ptr<ECDSA_SIG, SignatureDeleter>;

const unsigned char* bytes_of(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

Result<std::string> id_of(EVP_PKEY* key) {
  unsigned char* encoded = nullptr;
  const int size = i2d_PUBKEY(key, &encoded);
  if (size <= 0) return fail(ErrorCode::Internal, take_tls_error());
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned length = 0;
  EVP_Digest(encoded, static_cast<std::size_t>(size), digest.data(), &length, EVP_sha256(),
             nullptr);
  OPENSSL_free(encoded);
  std::string id;
  for (unsigned i = 0; i < 8; ++i) id += fmt::format("{:02x}", digest.at(i));
  return id;
}

// OpenSSL's form of a signature is DER; tokens have the two numbers one after the other.
Result<std::string> to_numbers(std::string_view der) {
  const unsigned char* at = bytes_of(der);
  const SignaturePointer signature(d2i_ECDSA_SIG(nullptr, &at, static_cast<long>(der.size())));
  if (!signature) return fail(ErrorCode::Internal, take_tls_error());
  std::string out(std::size_t{2} * kHalf, '\0');
  auto* into = reinterpret_cast<unsigned char*>(out.data());
  if (BN_bn2binpad(ECDSA_SIG_get0_r(signature.get()), into, kHalf) != kHalf ||
      BN_bn2binpad(ECDSA_SIG_get0_s(signature.get()), into + kHalf, kHalf) != kHalf) {
    return fail(ErrorCode::Internal, take_tls_error());
  }
  return out;
}

std::string to_der(std::string_view numbers) {
  const SignaturePointer signature(ECDSA_SIG_new());
  BIGNUM* r = BN_bin2bn(bytes_of(numbers), kHalf, nullptr);
  BIGNUM* s = BN_bin2bn(bytes_of(numbers) + kHalf, kHalf, nullptr);
  ECDSA_SIG_set0(signature.get(), r, s);  // it owns them now
  unsigned char* encoded = nullptr;
  const int size = i2d_ECDSA_SIG(signature.get(), &encoded);
  std::string der(reinterpret_cast<const char*>(encoded),
                  size > 0 ? static_cast<std::size_t>(size) : 0);
  OPENSSL_free(encoded);
  return der;
}

bool is_p256(EVP_PKEY* key) {
  std::array<char, 64> group{};
  std::size_t length = 0;
  return EVP_PKEY_get_group_name(key, group.data(), group.size(), &length) == 1 &&
         std::string_view(group.data(), length) == "prime256v1";
}

Result<std::shared_ptr<const SigningKey::Impl>> wrap(KeyPointer key) {
  auto impl = std::make_shared<SigningKey::Impl>();
  impl->id = TRY(id_of(key.get()));
  impl->key = std::move(key);
  return std::shared_ptr<const SigningKey::Impl>(std::move(impl));
}

}  // namespace

Result<SigningKey> SigningKey::generate() {
  KeyPointer key(EVP_PKEY_Q_keygen(nullptr, nullptr, "EC", "P-256"));
  if (!key) return fail(ErrorCode::Internal, take_tls_error());
  return SigningKey(TRY(wrap(std::move(key))));
}

Result<SigningKey> SigningKey::from_pem(const Secret& pem) {
  auto key = TRY(read_key(pem));
  if (!is_p256(key.get()))
    return fail(ErrorCode::Invalid, "the signing key is not an EC key of curve P-256");
  return SigningKey(TRY(wrap(std::move(key))));
}

Secret SigningKey::pem() const {
  BIO* out = BIO_new(BIO_s_secmem());
  PEM_write_bio_PKCS8PrivateKey(out, impl_->key.get(), nullptr, nullptr, 0, nullptr, nullptr);
  char* data = nullptr;
  const long size = BIO_get_mem_data(out, &data);
  Secret text(std::string(data, static_cast<std::size_t>(size)));
  BIO_free(out);
  return text;
}

const std::string& SigningKey::id() const {
  return impl_->id;
}

Result<std::string> SigningKey::sign(std::string_view text) const {
  const DigestPointer context(EVP_MD_CTX_new());
  std::size_t size = 0;
  if (EVP_DigestSignInit(context.get(), nullptr, EVP_sha256(), nullptr, impl_->key.get()) != 1 ||
      EVP_DigestSign(context.get(), nullptr, &size, bytes_of(text), text.size()) != 1) {
    return fail(ErrorCode::Internal, fmt::format("signing: {}", take_tls_error()));
  }
  std::string der(size, '\0');
  if (EVP_DigestSign(context.get(), reinterpret_cast<unsigned char*>(der.data()), &size,
                     bytes_of(text), text.size()) != 1) {
    return fail(ErrorCode::Internal, fmt::format("signing: {}", take_tls_error()));
  }
  der.resize(size);
  return to_numbers(der);
}

bool SigningKey::verify(std::string_view text, std::string_view signature) const {
  if (signature.size() != std::size_t{2} * kHalf) return false;
  const std::string der = to_der(signature);
  const DigestPointer context(EVP_MD_CTX_new());
  const bool good =
      EVP_DigestVerifyInit(context.get(), nullptr, EVP_sha256(), nullptr, impl_->key.get()) == 1 &&
      EVP_DigestVerify(context.get(), bytes_of(der), der.size(), bytes_of(text), text.size()) == 1;
  if (!good) take_tls_error();  // or the next one would find it
  return good;
}

bool equal_secrets(std::string_view a, std::string_view b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace muster::net
