#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "net/websocket/frames.h"

// The first byte chooses the size of the pieces and which side is read; one piece and many agree,
// and what was read can be written and read again.
namespace {

using muster::net::WebSocketMessage;
using muster::net::WebSocketReader;
using muster::net::WebSocketSide;

constexpr std::size_t kMaxMessage = 4096;

struct Outcome {
  bool failed = false;
  bool in_the_middle = false;
  std::vector<WebSocketMessage> messages;
};

Outcome read(std::string_view text, std::size_t piece, WebSocketSide side) {
  WebSocketReader reader(side, kMaxMessage);
  Outcome outcome;
  std::size_t at = 0;
  while (at < text.size()) {
    const auto taken = reader.feed(text.substr(at, piece));
    outcome.failed = !taken.has_value();
    if (outcome.failed) return outcome;
    at += *taken;
    auto message = reader.take();
    CHECK(message || *taken > 0);
    if (!message) continue;
    CHECK(message->bytes.size() <= kMaxMessage);
    outcome.messages.push_back(std::move(*message));
  }
  outcome.in_the_middle = reader.in_the_middle();
  return outcome;
}

void check_same(const Outcome& a, const Outcome& b) {
  CHECK(a.failed == b.failed && a.messages.size() == b.messages.size());
  for (std::size_t i = 0; i < a.messages.size(); ++i) {
    CHECK(a.messages[i].kind == b.messages[i].kind && a.messages[i].bytes == b.messages[i].bytes);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const auto side = data[0] >= 128 ? WebSocketSide::Server : WebSocketSide::Client;
  const auto whole = read(text, text.size(), side);
  check_same(whole, read(text, std::size_t{data[0]} % 128 + 1, side));
  std::string again;
  for (const auto& message : whole.messages) {
    const auto mask = side == WebSocketSide::Client ? std::optional(0x12345678U) : std::nullopt;
    muster::net::append_message(again, message.kind, message.bytes, mask);
  }
  Outcome wanted = whole;
  wanted.failed = false;
  check_same(wanted, read(again, again.size() + 1, side));
  return 0;
}
