#include <openssl/err.h>
#include <openssl/ssl.h>

#include <fmt/format.h>

#include "net/tls/internal.h"

namespace muster::net {

void ContextDeleter::operator()(ssl_ctx_st* context) const {
  SSL_CTX_free(context);
}

using ContextPointer = std::unique_ptr<ssl_ctx_st, ContextDeleter>;

Result<ContextPointer> make_tls_context(const ssl_method_st* method) {
  ContextPointer context(SSL_CTX_new(method));
  if (!context) return fail(ErrorCode::Internal, fmt::format("TLS: {}", take_tls_error()));
  SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
  // A renegotiation would make reads depend on writes; nobody needs it.
  SSL_CTX_set_options(context.get(), SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
  SSL_CTX_set_mode(context.get(), SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE |
                                      SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  // One recv for a whole record instead of one for its header and one for the rest.
  SSL_CTX_set_read_ahead(context.get(), 1);
  SSL_CTX_set_session_cache_mode(context.get(), SSL_SESS_CACHE_OFF);
  return context;
}

namespace {

Result<void> use_identity(SSL_CTX* context, const Identity& identity) {
  if (identity.certificate_pem.empty() != identity.key_pem.empty()) {
    return fail(ErrorCode::Invalid, "a TLS certificate and its key are needed together");
  }
  if (identity.certificate_pem.empty()) return {};
  auto certificates = TRY(read_certificates(identity.certificate_pem));
  const auto key = TRY(read_key(identity.key_pem));
  if (SSL_CTX_use_certificate(context, certificates.front().get()) != 1) {
    return fail(ErrorCode::Invalid, fmt::format("TLS certificate: {}", take_tls_error()));
  }
  for (std::size_t i = 1; i < certificates.size(); ++i) {
    if (SSL_CTX_add1_chain_cert(context, certificates[i].get()) != 1) {
      return fail(ErrorCode::Invalid, fmt::format("TLS certificate chain: {}", take_tls_error()));
    }
  }
  if (SSL_CTX_use_PrivateKey(context, key.get()) != 1 || SSL_CTX_check_private_key(context) != 1) {
    return fail(
        ErrorCode::Invalid,
        fmt::format("the TLS key does not belong to the certificate: {}", take_tls_error()));
  }
  return {};
}

Result<void> trust(SSL_CTX* context, std::string_view ca_pem) {
  const auto certificates = TRY(read_certificates(ca_pem));
  X509_STORE* store = SSL_CTX_get_cert_store(context);
  for (const auto& certificate : certificates) X509_STORE_add_cert(store, certificate.get());
  // An intermediate in the bundle is trusted as it is; clusters are set up that way.
  X509_STORE_set_flags(store, X509_V_FLAG_PARTIAL_CHAIN);
  return {};
}

Result<std::string> alpn_wire(const std::vector<std::string>& protocols) {
  std::string wire;
  for (const auto& protocol : protocols) {
    if (protocol.empty() || protocol.size() > 255) {
      return fail(ErrorCode::Invalid, "an ALPN name has 1 to 255 bytes");
    }
    wire.push_back(static_cast<char>(protocol.size()));
    wire.append(protocol);
  }
  return wire;
}

const unsigned char* bytes_of(const std::string& text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

int choose_protocol(SSL*, const unsigned char** out, unsigned char* out_length,
                    const unsigned char* offered, unsigned offered_length, void* argument) {
  const auto& own = *static_cast<const std::string*>(argument);
  unsigned char* chosen = nullptr;
  if (SSL_select_next_proto(&chosen, out_length, bytes_of(own), static_cast<unsigned>(own.size()),
                            offered, offered_length) != OPENSSL_NPN_NEGOTIATED) {
    return SSL_TLSEXT_ERR_NOACK;
  }
  *out = chosen;
  return SSL_TLSEXT_ERR_OK;
}

}  // namespace

void ignore_installed_tls_settings() {
  OPENSSL_init_ssl(OPENSSL_INIT_NO_LOAD_CONFIG, nullptr);
}

Result<TlsContext> TlsContext::client(const TlsClientOptions& options) {
  auto impl = std::make_shared<Impl>();
  impl->context = TRY(make_tls_context(TLS_client_method()));
  impl->server_name = options.server_name;
  impl->verification = options.verification;
  SSL_CTX* context = impl->context.get();
  TRY(use_identity(context, options.identity));
  if (options.verification == Verification::Full) {
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
    if (options.ca_pem.empty()) {
      SSL_CTX_set_default_verify_paths(context);
    } else {
      TRY(trust(context, options.ca_pem));
    }
  }
  impl->alpn = TRY(alpn_wire(options.protocols));
  SSL_CTX_set_alpn_protos(context, bytes_of(impl->alpn), static_cast<unsigned>(impl->alpn.size()));
  return TlsContext(std::move(impl));
}

Result<TlsContext> TlsContext::server(const TlsServerOptions& options) {
  auto impl = std::make_shared<Impl>();
  impl->context = TRY(make_tls_context(TLS_server_method()));
  SSL_CTX* context = impl->context.get();
  if (options.identity.certificate_pem.empty()) {
    return fail(ErrorCode::Invalid, "a TLS server needs a certificate and its key");
  }
  TRY(use_identity(context, options.identity));
  SSL_CTX_set_num_tickets(context, 0);
  SSL_CTX_set_options(context, SSL_OP_NO_TICKET);
  if (!options.client_ca_pem.empty()) {
    TRY(trust(context, options.client_ca_pem));
    const bool required = options.client_certificate == ClientCertificate::Required;
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER | (required ? SSL_VERIFY_FAIL_IF_NO_PEER_CERT : 0),
                       nullptr);
  }
  impl->alpn = TRY(alpn_wire(options.protocols));
  SSL_CTX_set_alpn_select_cb(context, choose_protocol, &impl->alpn);
  return TlsContext(std::move(impl));
}

}  // namespace muster::net
