#include "cluster/kube/access/fenced_connector.h"

#include <utility>

namespace muster::cluster::kube {
namespace {

// One TLS record; what is not sent before a stop is asked about again after it.
constexpr std::size_t kRecordBytes = std::size_t{16} << 10U;

class FencedStream final : public net::Stream {
 public:
  FencedStream(std::unique_ptr<net::Stream> stream, const Fence& fence)
      : stream_(std::move(stream)), fence_(fence) {}

  Task<Result<std::size_t>> read(std::span<char> into) override { return stream_->read(into); }
  Task<Result<void>> write(std::string_view bytes) override {
    while (!bytes.empty()) {
      if (!fence_.may_write()) {
        stream_->close();
        co_return fail(ErrorCode::Unavailable, "no longer the leader: nothing more is sent");
      }
      const auto record = bytes.substr(0, kRecordBytes);
      CO_TRY(co_await stream_->write(record));
      bytes.remove_prefix(record.size());
    }
    co_return Result<void>{};
  }
  Task<Result<void>> shutdown() override { return stream_->shutdown(); }
  void close() override { stream_->close(); }
  [[nodiscard]] bool quiet() override { return stream_->quiet(); }
  [[nodiscard]] std::string protocol() const override { return stream_->protocol(); }
  [[nodiscard]] net::Peer peer() const override { return stream_->peer(); }

 private:
  std::unique_ptr<net::Stream> stream_;
  const Fence& fence_;
};

class FencedConnector final : public net::Connector {
 public:
  FencedConnector(std::unique_ptr<net::Connector> connector, const Fence& fence)
      : connector_(std::move(connector)), fence_(fence) {}

  Task<Result<std::unique_ptr<net::Stream>>> connect() override {
    auto stream = CO_TRY(co_await connector_->connect());
    std::unique_ptr<net::Stream> guarded =
        std::make_unique<FencedStream>(std::move(stream), fence_);
    co_return guarded;
  }
  [[nodiscard]] std::string authority() const override { return connector_->authority(); }
  [[nodiscard]] std::string scheme() const override { return connector_->scheme(); }
  [[nodiscard]] std::string describe() const override { return connector_->describe(); }

 private:
  std::unique_ptr<net::Connector> connector_;
  const Fence& fence_;
};

}  // namespace

std::unique_ptr<net::Connector> fenced(std::unique_ptr<net::Connector> connector,
                                       const Fence& fence) {
  return std::make_unique<FencedConnector>(std::move(connector), fence);
}

}  // namespace muster::cluster::kube
