#include "controller/keys/random_bytes.h"

#include <cstdint>

namespace muster::controller {

Secret random_bytes(Rng& rng, std::size_t count) {
  std::string bytes;
  while (bytes.size() < count) {
    std::uint64_t word = rng.next();
    for (unsigned i = 0; i < sizeof word && bytes.size() < count; ++i, word >>= 8U)
      bytes += static_cast<char>(word);
  }
  return Secret(std::move(bytes));
}

}  // namespace muster::controller
