// Frames between agents: whatever the bytes and however they are cut, reading is bounded and gives
// the same, and what is read is written back as the same bytes.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "agent/mpi/frames.h"
#include "agent/mpi/tally/report.h"
#include "agent/mpi/tally/tally.h"

namespace {

using namespace muster::agent::mpi;

std::vector<Frame> read_in_pieces(std::string_view bytes, std::size_t piece) {
  FrameReader reader;
  std::vector<Frame> frames;
  while (!bytes.empty()) {
    reader.feed(bytes.substr(0, piece));
    bytes.remove_prefix(std::min(piece, bytes.size()));
    while (true) {
      auto frame = reader.next();
      if (!frame) return frames;
      if (!*frame) break;
      frames.push_back(std::move(**frame));
    }
  }
  return frames;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto frames = read_in_pieces(bytes, size + 1);
  if (read_in_pieces(bytes, 1 + size / 3) != frames) std::abort();
  std::string written;
  for (const auto& frame : frames) {
    written += encode_frame(frame.type, frame.payload);
    if (frame.payload.size() > kMaxPayloadBytes) std::abort();
    const auto report = decode_report(frame.payload);
    if (report && decode_report(encode_report(*report)) != report) std::abort();
    const auto counts = read_counts(frame.payload);
    if (read_counts(write_counts(counts)) != counts) std::abort();
  }
  if (!bytes.starts_with(written)) std::abort();
  return 0;
}
