#pragma once

#include <memory>
#include <string>

#include "net/tls/tls.h"

// What the .cc files of TLS share. OpenSSL's types are only named here.
struct ssl_ctx_st;
struct ssl_method_st;
struct x509_st;
struct evp_pkey_st;
struct ssl_session_st;

namespace muster::net {

struct ContextDeleter {
  void operator()(ssl_ctx_st* context) const;
};

struct SessionDeleter {
  void operator()(ssl_session_st* session) const;
};

// What the callbacks of a context with a pre-shared key find.
struct SharedKey {
  std::string identity;
  std::unique_ptr<ssl_session_st, SessionDeleter> session;
};

// What contexts of every sort have in common: versions, modes, no renegotiation.
Result<std::unique_ptr<ssl_ctx_st, ContextDeleter>> make_tls_context(const ssl_method_st* method);

struct TlsContext::Impl {
  std::unique_ptr<SharedKey> shared_key;  // none: certificates
  std::unique_ptr<ssl_ctx_st, ContextDeleter> context;
  std::string server_name;
  Verification verification = Verification::Full;
  std::string alpn;  // length-prefixed names, as on the wire
};

struct CertificateDeleter {
  void operator()(x509_st* certificate) const;
};
struct KeyDeleter {
  void operator()(evp_pkey_st* key) const;
};
using CertificatePointer = std::unique_ptr<x509_st, CertificateDeleter>;
using KeyPointer = std::unique_ptr<evp_pkey_st, KeyDeleter>;

// What OpenSSL's error queue says, which is empty afterwards.
std::string take_tls_error();

Result<std::vector<CertificatePointer>> read_certificates(std::string_view pem);
// The error never quotes the key.
Result<KeyPointer> read_key(const Secret& pem);
CertificateInfo describe_certificate(x509_st* certificate);

}  // namespace muster::net
