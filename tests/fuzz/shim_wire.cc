// Frames and records between Muster and its shims: whatever the bytes are, decoding is bounded, and
// what decodes is written back as the same bytes or as one that reads the same.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "node/shim/protocol.h"

namespace {

using namespace muster::node;

template <class T>
void round_trip(std::string_view bytes) {
  const auto value = shim::decode<T>(bytes);
  if (!value) return;
  const auto once = shim::encode(*value);
  const auto again = shim::decode<T>(once);
  if (!again || shim::encode(*again) != once) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  std::string buffer(bytes);
  while (true) {
    const auto frame = shim::take_frame(buffer);
    if (!frame || !*frame) break;
  }
  round_trip<shim::SandboxRecord>(bytes);
  round_trip<shim::StartRecord>(bytes);
  round_trip<shim::FailureRecord>(bytes);
  round_trip<ContainerSpec>(bytes);
  round_trip<ContainerExit>(bytes);
  round_trip<ServiceRule>(bytes);
  round_trip<AdoptedContainer>(bytes);
  return 0;
}
