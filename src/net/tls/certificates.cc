#include <arpa/inet.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/strings.h"
#include "net/tls/internal.h"

namespace muster::net {

void CertificateDeleter::operator()(x509_st* certificate) const {
  X509_free(certificate);
}
void KeyDeleter::operator()(evp_pkey_st* key) const {
  EVP_PKEY_free(key);
}

namespace {

struct BioDeleter {
  void operator()(BIO* bio) const { BIO_free_all(bio); }
};
using BioPointer = std::unique_ptr<BIO, BioDeleter>;

BioPointer memory_bio(std::string_view text) {
  return BioPointer(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

std::string bio_text(BIO* bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  return size > 0 ? std::string(data, static_cast<std::size_t>(size)) : std::string();
}

// Without this a key with a passphrase would be asked for on the terminal.
int no_passphrase(char*, int, int, void*) {
  return -1;
}

std::string asn1_text(const ASN1_STRING* value) {
  unsigned char* utf8 = nullptr;
  const int size = ASN1_STRING_to_UTF8(&utf8, value);
  if (size < 0) return {};
  std::string text(reinterpret_cast<const char*>(utf8), static_cast<std::size_t>(size));
  OPENSSL_free(utf8);
  return printable(text);
}

std::vector<std::string> name_entries(X509_NAME* name, int nid) {
  std::vector<std::string> entries;
  for (int at = X509_NAME_get_index_by_NID(name, nid, -1); at >= 0;
       at = X509_NAME_get_index_by_NID(name, nid, at)) {
    entries.push_back(asn1_text(X509_NAME_ENTRY_get_data(X509_NAME_get_entry(name, at))));
  }
  return entries;
}

Time asn1_time(const ASN1_TIME* value) {
  std::tm parts{};
  if (ASN1_TIME_to_tm(value, &parts) != 1) return {};
  const auto day = std::chrono::year(parts.tm_year + 1900) /
                   std::chrono::month(static_cast<unsigned>(parts.tm_mon + 1)) /
                   std::chrono::day(static_cast<unsigned>(parts.tm_mday));
  const std::chrono::sys_seconds time =
      std::chrono::sys_days(day) + std::chrono::hours(parts.tm_hour) +
      std::chrono::minutes(parts.tm_min) + std::chrono::seconds(parts.tm_sec);
  // Certificates that never expire say 9999; nanoseconds end in 2262.
  constexpr std::chrono::sys_seconds kLast = std::chrono::sys_days(std::chrono::year(2262) / 1 / 1);
  return std::clamp(time, -kLast.time_since_epoch() + std::chrono::sys_seconds{}, kLast);
}

std::string ip_text(const ASN1_OCTET_STRING* address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  const int size = ASN1_STRING_length(address);
  const int family = size == 4 ? AF_INET : AF_INET6;
  if (size != 4 && size != 16) return {};
  inet_ntop(family, ASN1_STRING_get0_data(address), text.data(), text.size());
  return text.data();
}

void read_names(X509* certificate, CertificateInfo& info) {
  auto* names = static_cast<GENERAL_NAMES*>(
      X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr));
  if (names == nullptr) return;
  for (int i = 0; i < sk_GENERAL_NAME_num(names); ++i) {
    const GENERAL_NAME* name = sk_GENERAL_NAME_value(names, i);
    if (name->type == GEN_DNS) info.dns_names.push_back(asn1_text(name->d.dNSName));
    if (name->type == GEN_IPADD) info.ip_addresses.push_back(ip_text(name->d.iPAddress));
  }
  GENERAL_NAMES_free(names);
}

}  // namespace

std::string take_tls_error() {
  std::string text;
  while (const auto code = ERR_get_error()) {
    const char* reason = ERR_reason_error_string(code);
    if (text.empty()) text = reason != nullptr ? reason : "unknown error";
  }
  return text.empty() ? "unknown error" : text;
}

Result<std::vector<CertificatePointer>> read_certificates(std::string_view pem) {
  if (pem.size() > kMaxPemBytes) {
    return fail(ErrorCode::TooLarge, fmt::format("a PEM bundle of {} bytes; at most {} are read",
                                                 pem.size(), kMaxPemBytes));
  }
  ERR_clear_error();
  const auto bio = memory_bio(pem);
  std::vector<CertificatePointer> certificates;
  while (X509* certificate = PEM_read_bio_X509(bio.get(), nullptr, no_passphrase, nullptr)) {
    certificates.emplace_back(certificate);
    if (certificates.size() > kMaxPemCertificates) {
      return fail(ErrorCode::TooLarge,
                  fmt::format("a PEM bundle with more than {} certificates", kMaxPemCertificates));
    }
  }
  const bool at_end = ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE;
  const auto reason = take_tls_error();
  if (!at_end) return fail(ErrorCode::Invalid, fmt::format("PEM certificates: {}", reason));
  if (certificates.empty()) {
    return fail(ErrorCode::Invalid,
                "no PEM certificate found; it starts with -----BEGIN CERTIFICATE-----");
  }
  return certificates;
}

Result<KeyPointer> read_key(const Secret& pem) {
  if (pem.reveal().size() > kMaxPemBytes)
    return fail(ErrorCode::TooLarge, "the TLS key is too long");
  ERR_clear_error();
  const auto bio = memory_bio(pem.reveal());
  KeyPointer key(PEM_read_bio_PrivateKey(bio.get(), nullptr, no_passphrase, nullptr));
  if (!key) {
    return fail(ErrorCode::Invalid,
                fmt::format("the TLS key is not an unencrypted PEM key: {}", take_tls_error()));
  }
  return key;
}

CertificateInfo describe_certificate(x509_st* certificate) {
  CertificateInfo info;
  X509_NAME* subject = X509_get_subject_name(certificate);
  auto common_names = name_entries(subject, NID_commonName);
  if (!common_names.empty()) info.common_name = std::move(common_names.back());
  info.organizations = name_entries(subject, NID_organizationName);
  info.not_before = asn1_time(X509_get0_notBefore(certificate));
  info.not_after = asn1_time(X509_get0_notAfter(certificate));
  info.is_ca = X509_check_ca(certificate) > 0;
  read_names(certificate, info);
  return info;
}

Result<std::vector<CertificateInfo>> parse_certificates(std::string_view pem) {
  std::vector<CertificateInfo> infos;
  for (const auto& certificate : TRY(read_certificates(pem))) {
    infos.push_back(describe_certificate(certificate.get()));
  }
  return infos;
}

namespace {

Result<void> add_extension(X509* certificate, X509* issuer, int nid, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, nid, value.c_str());
  if (extension == nullptr) {
    return fail(ErrorCode::Invalid,
                fmt::format("certificate extension {}: {}", value, take_tls_error()));
  }
  X509_add_ext(certificate, extension, -1);
  X509_EXTENSION_free(extension);
  return {};
}

Result<std::string> alternative_names(const CertificateRequest& request) {
  std::vector<std::string> names;
  names.reserve(request.dns_names.size() + request.ip_addresses.size());
  for (const auto& name : request.dns_names) names.push_back("DNS:" + name);
  for (const auto& address : request.ip_addresses) names.push_back("IP:" + address);
  // The text goes through OpenSSL's configuration syntax, where a comma would start another name.
  for (const auto& name : names) {
    if (name.find_first_of(",\n\\\"'#$") != std::string::npos) {
      return fail(ErrorCode::Invalid,
                  fmt::format("\"{}\" is not a host name or address", printable(name)));
    }
  }
  return join(names, ",");
}

void set_subject(X509* certificate, const CertificateRequest& request) {
  X509_NAME* subject = X509_get_subject_name(certificate);
  const auto add = [&](const char* field, const std::string& value) {
    X509_NAME_add_entry_by_txt(subject, field, MBSTRING_UTF8,
                               reinterpret_cast<const unsigned char*>(value.data()),
                               static_cast<int>(value.size()), -1, 0);
  };
  for (const auto& organization : request.organizations) add("O", organization);
  add("CN", request.common_name);
}

void set_validity(X509* certificate, const CertificateRequest& request, Time now) {
  using std::chrono::seconds;
  const auto start = std::chrono::duration_cast<seconds>(now.time_since_epoch());
  // An hour back, for clocks that disagree.
  ASN1_TIME_set(X509_getm_notBefore(certificate), (start - std::chrono::hours(1)).count());
  ASN1_TIME_set(X509_getm_notAfter(certificate), (start + seconds(request.valid_for)).count());
}

Result<void> set_extensions(X509* certificate, X509* issuer, const CertificateRequest& request) {
  const bool authority = request.use == CertificateUse::Authority;
  TRY(add_extension(certificate, issuer, NID_basic_constraints,
                    authority ? "critical,CA:TRUE" : "critical,CA:FALSE"));
  TRY(add_extension(
      certificate, issuer, NID_key_usage,
      authority ? "critical,keyCertSign,cRLSign,digitalSignature" : "critical,digitalSignature"));
  TRY(add_extension(certificate, issuer, NID_subject_key_identifier, "hash"));
  if (issuer != certificate) {
    TRY(add_extension(certificate, issuer, NID_authority_key_identifier, "keyid"));
  }
  if (!authority) {
    TRY(add_extension(certificate, issuer, NID_ext_key_usage,
                      request.use == CertificateUse::Server ? "serverAuth" : "clientAuth"));
  }
  const auto names = TRY(alternative_names(request));
  if (!names.empty()) TRY(add_extension(certificate, issuer, NID_subject_alt_name, names));
  return {};
}

Result<Identity> issue(const CertificateRequest& request, X509* issuer, EVP_PKEY* issuer_key,
                       Time now) {
  const KeyPointer key(EVP_PKEY_Q_keygen(nullptr, nullptr, "EC", "P-256"));
  const CertificatePointer certificate(X509_new());
  if (!key || !certificate) return fail(ErrorCode::Internal, take_tls_error());
  X509_set_version(certificate.get(), X509_VERSION_3);
  std::array<unsigned char, 16> serial{};
  RAND_bytes(serial.data(), static_cast<int>(serial.size()));
  serial[0] &= 0x7fU;  // serial numbers are positive
  BIGNUM* number = BN_bin2bn(serial.data(), static_cast<int>(serial.size()), nullptr);
  BN_to_ASN1_INTEGER(number, X509_get_serialNumber(certificate.get()));
  BN_free(number);
  set_subject(certificate.get(), request);
  set_validity(certificate.get(), request, now);
  X509_set_pubkey(certificate.get(), key.get());
  X509* signer = issuer != nullptr ? issuer : certificate.get();
  X509_set_issuer_name(certificate.get(), X509_get_subject_name(signer));
  TRY(set_extensions(certificate.get(), signer, request));
  if (X509_sign(certificate.get(), issuer != nullptr ? issuer_key : key.get(), EVP_sha256()) == 0) {
    return fail(ErrorCode::Internal, fmt::format("signing a certificate: {}", take_tls_error()));
  }
  const BioPointer certificate_out(BIO_new(BIO_s_mem()));
  const BioPointer key_out(BIO_new(BIO_s_secmem()));
  PEM_write_bio_X509(certificate_out.get(), certificate.get());
  PEM_write_bio_PKCS8PrivateKey(key_out.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr);
  return Identity{.certificate_pem = bio_text(certificate_out.get()),
                  .key_pem = Secret(bio_text(key_out.get()))};
}

}  // namespace

Result<Identity> make_self_signed(const CertificateRequest& request, Time now) {
  return issue(request, nullptr, nullptr, now);
}

Result<Identity> make_signed(const CertificateRequest& request, const Identity& issuer, Time now) {
  const auto certificates = TRY(read_certificates(issuer.certificate_pem));
  const auto key = TRY(read_key(issuer.key_pem));
  return issue(request, certificates.front().get(), key.get(), now);
}

}  // namespace muster::net
