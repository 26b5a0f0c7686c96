#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "net/http2/session.h"

// A client session with requests in flight, fed with whatever a server may send. The first byte
// chooses the size of the pieces, and when streams are given up.
namespace {

using muster::net::Http2Session;
using muster::net::Http2Stream;

constexpr std::size_t kWindow = 65'535;
constexpr std::size_t kMaxBody = 10'000;

class FuzzStream final : public Http2Stream {
 public:
  FuzzStream(Mode how, std::string body)
      : Http2Stream({.method = "POST", .target = "/x", .body = std::move(body)}, how, kMaxBody) {}
  void changed() override {
    CHECK(!forgotten);
    ++changes;
  }
  bool forgotten = false;
  int changes = 0;
};

void check(const FuzzStream& stream) {
  const std::size_t limit = stream.mode == Http2Stream::Mode::Whole ? kMaxBody : kWindow;
  CHECK(stream.response.body.size() <= limit);
  if (stream.ended && !stream.error) CHECK(stream.head_done && stream.response.status >= 200);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  Http2Session session({.authority = "host",
                        .max_header_bytes = 4096,
                        .stream_window = kWindow,
                        .connection_window = 1U << 20U});
  std::array<std::unique_ptr<FuzzStream>, 4> streams;
  for (std::size_t i = 0; i < streams.size(); ++i) {
    const auto mode = i % 2 == 0 ? Http2Stream::Mode::Whole : Http2Stream::Mode::Pieces;
    streams[i] = std::make_unique<FuzzStream>(mode, std::string(i * 1000, 'b'));
    CHECK(session.submit(*streams[i]).has_value());
  }
  std::string out;
  CHECK(session.output(out, 1U << 20U).has_value());

  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::size_t piece = std::size_t{data[0]} + 1;
  for (std::size_t at = 0; at < text.size(); at += piece) {
    if (!session.receive(text.substr(at, piece))) break;
    out.clear();
    if (!session.output(out, 1U << 20U)) break;
    for (const auto& stream : streams) check(*stream);
    if (at / piece % 3 == 1 && data[0] % 2 == 0) session.take_body(*streams[1]);
    if (at > text.size() / 2 && data[0] % 5 == 0 && !streams[3]->forgotten) {
      session.forget(*streams[3]);
      streams[3]->forgotten = true;
    }
  }
  session.fail_all({.code = muster::ErrorCode::Unavailable, .message = "over"});
  for (const auto& stream : streams) CHECK(stream->ended || stream->forgotten);
  CHECK(session.streams() == 0);
  return 0;
}
