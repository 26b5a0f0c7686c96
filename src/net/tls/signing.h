#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/secret.h"

namespace muster::net {

// A key that signs texts and knows its own signatures again: ECDSA over P-256 with SHA-256, which
// tokens call ES256. Cheap to copy; the key cannot be printed.
class SigningKey {
 public:
  static Result<SigningKey> generate();
  // An unencrypted PEM key of that curve.
  static Result<SigningKey> from_pem(const Secret& pem);

  [[nodiscard]] Secret pem() const;
  // Names the key without telling anything of it: the same for the same key, ever.
  [[nodiscard]] const std::string& id() const;
  // 64 bytes.
  [[nodiscard]] Result<std::string> sign(std::string_view text) const;
  [[nodiscard]] bool verify(std::string_view text, std::string_view signature) const;

  struct Impl;

 private:
  explicit SigningKey(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}
  std::shared_ptr<const Impl> impl_;
};

// Takes as long for texts that differ early as for those that differ late.
bool equal_secrets(std::string_view a, std::string_view b);

}  // namespace muster::net
