#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/secret.h"
#include "base/time.h"

// TLS settings and certificates. TLS 1.2 or newer; OpenSSL stays inside the .cc files.
namespace muster::net {

// A certificate chain and the key of its first certificate, both PEM.
struct Identity {
  std::string certificate_pem;
  Secret key_pem;
};

enum class Verification {
  Full,      // chain and name
  Insecure,  // nothing: what kubeconfig calls insecure-skip-tls-verify
};

struct TlsClientOptions {
  std::string ca_pem;  // empty: the system's trust store
  std::string
      server_name;    // SNI and the name (or IP address) to verify; empty: the endpoint's host
  Identity identity;  // empty: no client certificate
  Verification verification = Verification::Full;
  std::vector<std::string> protocols = {"h2", "http/1.1"};  // ALPN, preferred first
};

enum class ClientCertificate {
  Required,
  Optional,  // but one that is shown must be good: who has none must be asked otherwise
};

struct TlsServerOptions {
  Identity identity;
  std::string client_ca_pem;  // not empty: clients show a certificate of this CA
  ClientCertificate client_certificate = ClientCertificate::Required;
  std::vector<std::string> protocols = {"http/1.1"};
};

// A key that both sides hold already, in place of certificates.
struct TlsKeyOptions {
  std::string identity;  // says which key is meant; not secret
  Secret key;            // 32 random bytes
};

// For a program inside somebody else's image, before anything else of TLS: OpenSSL's settings there
// are not ours, and may name modules that a static program cannot load.
void ignore_installed_tls_settings();

// Parsed settings, shared by all connections of an endpoint. Cheap to copy.
class TlsContext {
 public:
  static Result<TlsContext> client(const TlsClientOptions& options);
  static Result<TlsContext> server(const TlsServerOptions& options);
  // TLS 1.3 with an external pre-shared key and (EC)DHE: whoever lacks the key gets no connection,
  // on either side, and one who learns the key later reads nothing of earlier connections. No
  // certificates, no tickets, no early data. A client whose key is refused gets Unauthorized.
  static Result<TlsContext> key_client(const TlsKeyOptions& options);
  static Result<TlsContext> key_server(const TlsKeyOptions& options);

  struct Impl;
  [[nodiscard]] const std::shared_ptr<const Impl>& impl() const { return impl_; }

 private:
  explicit TlsContext(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}
  std::shared_ptr<const Impl> impl_;
};

// What one certificate says.
struct CertificateInfo {
  std::string common_name;
  std::vector<std::string> organizations;
  std::vector<std::string> dns_names;
  std::vector<std::string> ip_addresses;
  Time not_before;
  Time not_after;
  bool is_ca = false;
};

inline constexpr std::size_t kMaxPemBytes = std::size_t{1} << 20U;
inline constexpr std::size_t kMaxPemCertificates = 512;  // the system's whole trust store has ~150

// All certificates of a PEM bundle, in order. An error when there is none, or more than the limits.
Result<std::vector<CertificateInfo>> parse_certificates(std::string_view pem);

enum class CertificateUse { Authority, Server, Client };

struct CertificateRequest {
  std::string common_name;
  std::vector<std::string> organizations;
  std::vector<std::string> dns_names;
  std::vector<std::string> ip_addresses;
  CertificateUse use = CertificateUse::Server;
  std::chrono::hours valid_for{24 * 365};
};

// A new EC P-256 key and its certificate, signed by itself or by `issuer`.
Result<Identity> make_self_signed(const CertificateRequest& request, Time now);
Result<Identity> make_signed(const CertificateRequest& request, const Identity& issuer, Time now);

}  // namespace muster::net
