#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "base/random.h"
#include "base/secret.h"

namespace muster::controller {

// An Ed25519 key as OpenSSH writes it to files.
struct SshKey {
  Secret private_key;      // openssh-key-v1, without a passphrase
  std::string public_key;  // "ssh-ed25519 AAAA…", without a comment

  // The seed is drawn from `rng`, which nobody else may know.
  static Result<SshKey> make(Rng& rng, std::string_view comment);
};

}  // namespace muster::controller
