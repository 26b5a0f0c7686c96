#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "net/http1/protocol.h"

// The first byte chooses the size of the pieces; one piece and many must agree, and what is read
// must be within the limits and survive being written again.
namespace {

using muster::net::HttpRequest;
using muster::net::RequestParser;

constexpr muster::net::Http1Limits kLimits = {
    .header_bytes = 4096, .header_count = 32, .uri_bytes = 256, .body_bytes = 4096};

struct Outcome {
  bool failed = false;
  bool done = false;
  std::size_t taken = 0;
  HttpRequest request;
};

Outcome parse(std::string_view text, std::size_t piece) {
  RequestParser parser(kLimits);
  Outcome outcome;
  while (outcome.taken < text.size() && !parser.done()) {
    const auto taken = parser.feed(text.substr(outcome.taken, piece));
    if (!taken) {
      outcome.failed = true;
      return outcome;
    }
    CHECK(*taken > 0);
    outcome.taken += *taken;
  }
  outcome.done = parser.done();
  if (outcome.done) outcome.request = parser.take();
  return outcome;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const auto whole = parse(text, text.size());
  const auto pieces = parse(text, std::size_t{data[0]} + 1);
  CHECK(whole.failed == pieces.failed && whole.done == pieces.done);
  if (!whole.done) return 0;
  CHECK(whole.taken == pieces.taken);
  CHECK(whole.request.body == pieces.request.body &&
        whole.request.headers == pieces.request.headers);
  CHECK(whole.request.body.size() <= kLimits.body_bytes &&
        whole.request.headers.size() <= kLimits.header_count);
  std::string again;
  muster::net::append_request_head(again, whole.request, "host");
  again += whole.request.body;
  const auto second = parse(again, again.size());
  // Writing adds a Host or a length, which can pass a limit.
  if (!second.failed) {
    CHECK(second.done && second.taken == again.size());
    CHECK(second.request.body == whole.request.body &&
          second.request.target == whole.request.target);
  }
  return 0;
}
