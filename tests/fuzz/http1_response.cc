#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "net/http1/protocol.h"

// The first byte chooses the size of the pieces and whether a body is expected; one piece and many
// agree.
namespace {

using muster::net::ResponseParser;

constexpr muster::net::Http1Limits kLimits = {
    .header_bytes = 4096, .header_count = 32, .body_bytes = 4096};

struct Outcome {
  bool failed = false;
  bool done = false;
  int status = 0;
  std::string body;
};

Outcome parse(std::string_view text, std::size_t piece, ResponseParser::Body expected) {
  ResponseParser parser(kLimits, expected);
  Outcome outcome;
  std::size_t at = 0;
  while (at < text.size() && !parser.done()) {
    const auto taken = parser.feed(text.substr(at, piece));
    outcome.failed = !taken.has_value();
    if (outcome.failed) return outcome;
    CHECK(*taken > 0);
    at += *taken;
  }
  outcome.failed = !parser.end_of_stream().has_value();
  outcome.done = parser.done();
  CHECK(outcome.done != outcome.failed);
  if (outcome.done) {
    outcome.status = parser.status();
    outcome.body = parser.take_body();
    CHECK(outcome.body.size() <= kLimits.body_bytes);
  }
  return outcome;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const auto expected =
      data[0] >= 128 ? ResponseParser::Body::NoneExpected : ResponseParser::Body::Normal;
  const auto whole = parse(text, text.size(), expected);
  const auto pieces = parse(text, std::size_t{data[0]} % 128 + 1, expected);
  CHECK(whole.failed == pieces.failed && whole.status == pieces.status &&
        whole.body == pieces.body);
  return 0;
}
