#pragma once

#include <optional>

#include "base/error.h"
#include "base/random.h"
#include "base/time.h"

namespace muster::cluster::kube {

// What a request does to the server, as far as repeating it is concerned.
enum class Effect {
  Reads,   // may be sent again at any time
  Writes,  // may be sent again only when the server said that it did not take it
};

struct RetryOptions {
  Duration first = std::chrono::milliseconds(100);
  Duration most = std::chrono::seconds(10);
  Duration total = std::chrono::seconds(45);  // from the first attempt to the start of the last
  // The same of a server that has never answered: who waits for it is told what is wrong sooner
  // than who knows that it was there.
  Duration first_contact = total;
};

// How long to wait before sending again, or nothing when the caller must be told. Safe are: 429,
// 503 with a Retry-After (the server refused before it did anything) for everything, and a broken
// or refused connection for reads. A write whose fate is unknown is never repeated here: who sent
// it looks at the cluster and decides anew.
std::optional<Duration> retry_delay(Effect effect, const Error& error, bool answered, int attempt,
                                    Duration elapsed, Rng& rng, const RetryOptions& options = {});

// Whether the answer tells us to slow down.
bool is_refusal(const Error& error);

}  // namespace muster::cluster::kube
