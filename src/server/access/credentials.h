#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "base/random.h"
#include "base/secret.h"
#include "base/time.h"
#include "net/tls/tls.h"

namespace muster::server {

// What the API proves itself with, and what it knows its clients by.
struct Credentials {
  std::string ca_pem;    // who signed the server's certificate
  net::Identity server;  // for TLS
  Secret token_key;      // PEM; signs service-account tokens
  Secret admin_token;    // of the owner of the home
};

struct CredentialOptions {
  std::string path;  // one file, only its owner's
  // What the server is called by its clients.
  std::vector<std::string> dns_names;
  std::vector<std::string> ip_addresses;
};

// Those of the file; what is missing, or ends soon, is made anew and kept there. Blocking, once, at
// the start: a read (nothing is asked of OpenSSL, which takes milliseconds to wake up), or keys and
// a write of some milliseconds for a new home.
Result<Credentials> load_credentials(const CredentialOptions& options, Rng& rng, Time now);

}  // namespace muster::server
