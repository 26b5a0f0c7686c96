#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/secret.h"
#include "base/time.h"
#include "cluster/kube/client_config.h"

namespace muster::cluster::kube {

// The bearer token of a client. A token file (a projected service-account token, replaced by the
// kubelet as it ages) is read again at most once a minute; while it cannot be read the last token
// stays. The read is of one small file in memory-backed storage, so it happens on the loop.
class Credentials {
 public:
  // `files` outlives it.
  Credentials(Secret token, std::string token_file, const FileReader& files)
      : token_(std::move(token)), token_file_(std::move(token_file)), files_(files) {}

  // Empty for a client without one.
  const Secret& token(Monotonic now);
  // The text with every token that was in use replaced: servers and proxies may echo what we sent.
  [[nodiscard]] std::string redacted(std::string text) const;

 private:
  Secret token_;
  Secret previous_;
  std::string token_file_;
  const FileReader& files_;
  std::optional<Monotonic> read_at_;
};

}  // namespace muster::cluster::kube
