#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "node/logs/cri_log.h"

// Log files are written by containers' output and read back at any place: whatever the bytes and
// however they are cut into chunks, the text is the same and the bounds hold.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::size_t chunk = data[0] % 64U + 1;
  const std::size_t lines = data[1] % 8U;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 2, size - 2);

  std::string whole;
  muster::node::CriLogDecoder at_once({.timestamps = true});
  at_once.feed(bytes, whole);
  CHECK(whole.size() <= bytes.size());

  std::string pieces;
  muster::node::CriLogDecoder in_pieces({.timestamps = true});
  for (std::size_t at = 0; at < bytes.size(); at += chunk) {
    in_pieces.feed(bytes.substr(at, chunk), pieces);
  }
  CHECK(whole == pieces);

  if (const auto line = muster::node::parse_cri_line(bytes)) CHECK(bytes.ends_with(line->text));

  const auto offset = muster::node::tail_offset(bytes, lines);
  CHECK(offset <= bytes.size());
  CHECK(offset == 0 || offset == bytes.size() || bytes[offset - 1] == '\n');

  std::string limited;
  muster::node::CriLogDecoder with_limit({.limit_bytes = lines});
  with_limit.feed(bytes, limited);
  CHECK(limited.size() <= lines);
  return 0;
}
