#include <openssl/evp.h>
#include <openssl/ssl.h>

#include <fmt/format.h>

#include "net/tls/internal.h"

namespace muster::net {

void SessionDeleter::operator()(ssl_session_st* session) const {
  SSL_SESSION_free(session);
}

namespace {

constexpr std::size_t kKeyBytes = 32;
constexpr auto kSuite = "TLS_AES_128_GCM_SHA256";
constexpr unsigned char kSuiteNumber[] = {0x13, 0x01};

const SharedKey& key_of(SSL* ssl) {
  return *static_cast<const SharedKey*>(SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl)));
}

// OpenSSL takes over the reference that it is given.
SSL_SESSION* another_reference(const SharedKey& key) {
  SSL_SESSION_up_ref(key.session.get());
  return key.session.get();
}

int find_session(SSL* ssl, const unsigned char* identity, std::size_t size, SSL_SESSION** session) {
  const auto& key = key_of(ssl);
  const std::string_view asked(reinterpret_cast<const char*>(identity), size);
  // Without a session the handshake goes on without the key, and fails for want of a certificate.
  *session = asked == key.identity ? another_reference(key) : nullptr;
  return 1;
}

int use_session(SSL* ssl, const EVP_MD* digest, const unsigned char** identity, std::size_t* size,
                SSL_SESSION** session) {
  const auto& key = key_of(ssl);
  *identity = nullptr;
  *size = 0;
  *session = nullptr;
  // A server that wants another hash than the key is for gets no key.
  const auto* ours = SSL_CIPHER_get_handshake_digest(SSL_SESSION_get0_cipher(key.session.get()));
  if (digest != nullptr && EVP_MD_get_type(digest) != EVP_MD_get_type(ours)) return 1;
  *identity = reinterpret_cast<const unsigned char*>(key.identity.data());
  *size = key.identity.size();
  *session = another_reference(key);
  return 1;
}

Result<std::unique_ptr<SharedKey>> make_key(SSL_CTX* context, const TlsKeyOptions& options) {
  if (options.identity.empty() || options.key.reveal().size() != kKeyBytes) {
    return fail(ErrorCode::Invalid, fmt::format("a shared key has a name and {} bytes", kKeyBytes));
  }
  auto key = std::make_unique<SharedKey>();
  key->identity = options.identity;
  key->session.reset(SSL_SESSION_new());
  // The suite is found by way of a connection; there is no other.
  const std::unique_ptr<SSL, decltype(&SSL_free)> connection(SSL_new(context), SSL_free);
  if (!key->session || !connection) return fail(ErrorCode::Internal, take_tls_error());
  const auto* suite = SSL_CIPHER_find(connection.get(), kSuiteNumber);
  const auto* bytes = reinterpret_cast<const unsigned char*>(options.key.reveal().data());
  if (suite == nullptr || SSL_SESSION_set1_master_key(key->session.get(), bytes, kKeyBytes) != 1 ||
      SSL_SESSION_set_cipher(key->session.get(), suite) != 1 ||
      SSL_SESSION_set_protocol_version(key->session.get(), TLS1_3_VERSION) != 1) {
    return fail(ErrorCode::Internal, fmt::format("TLS with a shared key: {}", take_tls_error()));
  }
  return key;
}

Result<std::shared_ptr<TlsContext::Impl>> make_keyed(const SSL_METHOD* method,
                                                     const TlsKeyOptions& options) {
  auto impl = std::make_shared<TlsContext::Impl>();
  impl->context = TRY(make_tls_context(method));
  SSL_CTX* context = impl->context.get();
  SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION);
  SSL_CTX_set_ciphersuites(context, kSuite);
  impl->shared_key = TRY(make_key(context, options));
  SSL_CTX_set_app_data(context, impl->shared_key.get());
  return impl;
}

}  // namespace

Result<TlsContext> TlsContext::key_client(const TlsKeyOptions& options) {
  auto impl = TRY(make_keyed(TLS_client_method(), options));
  // A server that shows a certificate instead is refused: nobody is trusted here.
  SSL_CTX_set_verify(impl->context.get(), SSL_VERIFY_PEER, nullptr);
  SSL_CTX_set_psk_use_session_callback(impl->context.get(), use_session);
  return TlsContext(std::move(impl));
}

Result<TlsContext> TlsContext::key_server(const TlsKeyOptions& options) {
  auto impl = TRY(make_keyed(TLS_server_method(), options));
  SSL_CTX_set_num_tickets(impl->context.get(), 0);
  SSL_CTX_set_options(impl->context.get(), SSL_OP_NO_TICKET);
  SSL_CTX_set_psk_find_session_callback(impl->context.get(), find_session);
  return TlsContext(std::move(impl));
}

}  // namespace muster::net
