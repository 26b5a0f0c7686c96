#include "agent/mpi/channel.h"

namespace muster::agent::mpi {
namespace {

constexpr std::size_t kReadBytes = std::size_t{16} << 10U;

}  // namespace

FrameChannel::FrameChannel(rt::RealLoop& loop, std::unique_ptr<net::Stream> stream)
    : loop_(loop), stream_(std::move(stream)), writer_(loop, 1), buffer_(kReadBytes) {}

Task<Result<Frame>> FrameChannel::receive() {
  while (true) {
    auto frame = CO_TRY(reader_.next());
    if (frame) co_return std::move(*frame);
    const auto count = CO_TRY(co_await stream_->read(buffer_));
    if (count == 0) co_return fail(ErrorCode::Unavailable, "the peer closed the connection");
    reader_.feed({buffer_.data(), count});
  }
}

Task<Result<void>> FrameChannel::send(FrameType type, std::string payload) {
  const auto bytes = encode_frame(type, payload);
  const auto permit = CO_TRY(co_await writer_.enter());
  co_return co_await stream_->write(bytes);
}

Task<void> FrameChannel::finish(Duration limit) {
  [[maybe_unused]] const auto told = co_await stream_->shutdown();
  [[maybe_unused]] const auto ended = co_await rt::with_timeout(loop_, limit, drain());
  stream_->close();
}

Task<Result<void>> FrameChannel::drain() {
  while (CO_TRY(co_await stream_->read(buffer_)) > 0) {
  }
  co_return Result<void>{};
}

}  // namespace muster::agent::mpi
