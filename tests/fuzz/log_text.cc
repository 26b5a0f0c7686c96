// A log as an API gives it, with whatever a container wrote: cut into any pieces it is the same
// text, and nothing of it that is shown steers a terminal or is wider than its place.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "cli/logs/stamped_text.h"
#include "cli/terminal/terminal.h"
#include "cli/terminal/text_width.h"

namespace {

using namespace muster;

std::string joined(const std::vector<cli::LogPiece>& pieces) {
  std::string text;
  for (const auto& piece : pieces) text += piece.bytes;
  return text;
}

bool steers(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return (byte < 0x20 && c != '\t' && c != '\n') || byte == 0x7F;
}

void check_shown(std::string_view text, std::size_t columns) {
  const std::string plain = cli::safe_line(text, false);
  for (const char c : plain) CHECK(!steers(c));
  for (const auto ellipsis : {cli::Ellipsis::Unicode, cli::Ellipsis::Ascii}) {
    CHECK(cli::text_width(cli::elide_end(plain, columns, ellipsis)) <= columns);
    CHECK(cli::text_width(cli::elide_middle(plain, columns, ellipsis)) <= columns);
    const std::string colored = cli::safe_line(text, true);
    CHECK(cli::text_width(cli::elide_middle(colored, columns, ellipsis)) <= columns);
  }
  for (const char c : cli::ascii_only(plain)) CHECK(static_cast<unsigned char>(c) < 0x80);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::size_t chunk = data[0] % 64U + 1;
  const std::size_t columns = data[1] % 100U;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 2, size - 2);

  std::vector<cli::LogPiece> whole;
  cli::StampedText at_once;
  at_once.feed(bytes, whole);
  std::vector<cli::LogPiece> pieces;
  cli::StampedText in_pieces;
  for (std::size_t at = 0; at < bytes.size(); at += chunk)
    in_pieces.feed(bytes.substr(at, chunk), pieces);
  CHECK(joined(whole) == joined(pieces));

  // All of it again, as after a broken connection: what comes is not more than there is.
  const std::size_t before = joined(pieces).size();
  in_pieces.begin_again();
  in_pieces.feed(bytes, pieces);
  CHECK(joined(pieces).size() - before <= bytes.size());

  check_shown(bytes, columns);
  return 0;
}
