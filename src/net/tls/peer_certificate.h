#pragma once

#include <optional>

#include "net/stream.h"

namespace muster::net {

// What the other end of a connection showed, whether or not it was verified; nothing without TLS.
std::optional<CertificateInfo> certificate_of(const Stream& stream);

}  // namespace muster::net
