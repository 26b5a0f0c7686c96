#include "controller/keys/key_data.h"

#include <fmt/format.h>

#include "base/strings.h"
#include "controller/keys/random_bytes.h"
#include "controller/keys/ssh_key.h"

namespace muster::controller {
namespace {

constexpr std::size_t kSharedKeyBytes = 32;

void put(json::Value& data, std::string_view name, const std::string& content) {
  data[name] = base64_encode(content);
}

void add_shared_key(Rng& rng, json::Value& data) {
  const Secret bytes = random_bytes(rng, kSharedKeyBytes);
  std::string digits;
  for (const char byte : bytes.reveal())
    digits += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  put(data, "key", digits);
}

// One host key for the whole job: whoever has it is one of its hosts, by whatever name.
Result<void> add_ssh_keys(Rng& rng, json::Value& data) {
  const SshKey user = TRY(SshKey::make(rng, "user"));
  const SshKey host = TRY(SshKey::make(rng, "host"));
  put(data, "ssh-privatekey", user.private_key.reveal());
  put(data, "ssh-publickey", user.public_key + " user\n");
  put(data, "authorized_keys", user.public_key + " user\n");
  put(data, "host_key", host.private_key.reveal());
  put(data, "host_key.pub", host.public_key + " host\n");
  put(data, "known_hosts", "* " + host.public_key + "\n");
  return {};
}

}  // namespace

Result<void> add_keys(plan::Source source, Rng& rng, json::Value& secret) {
  secret["immutable"] = true;
  switch (source) {
    case plan::Source::Body:
      return {};
    case plan::Source::SharedKey:
      add_shared_key(rng, secret["data"]);
      return {};
    case plan::Source::SshKeys:
      return add_ssh_keys(rng, secret["data"]);
  }
  return {};
}

}  // namespace muster::controller
