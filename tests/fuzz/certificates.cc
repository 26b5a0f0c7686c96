// Any bytes as a bundle of certificates, and as all that a TLS context is made of.
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/check.h"
#include "net/tls/tls.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace muster::net;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto certificates = parse_certificates(text);
  CHECK(!certificates || (!certificates->empty() && certificates->size() <= kMaxPemCertificates));
  (void)TlsContext::client({.ca_pem = text});
  (void)TlsContext::server(
      {.identity = {.certificate_pem = text, .key_pem = muster::Secret(text)}});
  return 0;
}
