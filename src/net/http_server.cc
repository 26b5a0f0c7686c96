#include "net/http_server.h"

#include <array>

#include "net/http_server_connection.h"
#include "rt/scope.h"

namespace muster::net {

namespace {
// After accept() failed, mostly because descriptors ran out: time for others to give some back.
constexpr auto kAcceptPause = std::chrono::milliseconds(100);
// So many are taken before those that came are looked at: what they sent meanwhile makes them busy.
constexpr int kAcceptsAtOnce = 16;
constexpr std::size_t kReadBytes = std::size_t{16} << 10U;
}  // namespace

class HttpServer::Impl {
 public:
  Impl(rt::Loop& loop, std::unique_ptr<Listener> listener, HttpHandler& handler,
       HttpServerOptions options)
      : loop_(loop),
        listener_(std::move(listener)),
        options_(std::move(options)),
        connections_(loop, {.connections = options_.max_connections,
                            .request_bytes = options_.max_request_bytes_at_once,
                            .answer_bytes = options_.max_unread_answer_bytes}),
        shared_{.loop = loop,
                .handler = handler,
                .options = options_,
                .connections = connections_,
                .scratch = scratch_},
        scope_(loop) {}

  void start() { scope_.spawn(accept_loop()); }

  Task<void> close() {
    scope_.request_stop();
    listener_->close();
    co_await scope_.close();
  }

  [[nodiscard]] std::uint16_t port() const { return listener_->port(); }
  [[nodiscard]] std::size_t connections() const { return connections_.open(); }

 private:
  Task<void> accept_loop() {
    int taken = 0;
    while (!scope_.stopping()) {
      auto stream = co_await listener_->accept();
      if (!stream) {
        if (stream.error().code == ErrorCode::Cancelled || scope_.stopping()) co_return;
        if (!co_await make_do(stream.error())) co_return;
        continue;
      }
      short_of_descriptors_ = false;
      while (!connections_.has_room() && !connections_.make_room()) {
        if (!co_await connections_.change()) co_return;
      }
      scope_.spawn(serve(std::make_unique<ServerConnection>(shared_, std::move(*stream))));
      if (++taken % kAcceptsAtOnce == 0 && !co_await rt::yield(loop_)) co_return;
    }
  }

  // Nobody could be let in, mostly because descriptors ran out: an idle connection has one. Said
  // once for each time that it happens.
  Task<Result<void>> make_do(const Error& error) {
    if (!std::exchange(short_of_descriptors_, true)) options_.log.warning("{}", error.message);
    if (connections_.make_room()) co_return co_await rt::yield(loop_);
    co_return co_await rt::sleep_for(loop_, kAcceptPause);
  }

  static Task<void> serve(std::unique_ptr<ServerConnection> connection) {
    co_await connection->run();
  }

  rt::Loop& loop_;
  std::unique_ptr<Listener> listener_;
  HttpServerOptions options_;
  Connections connections_;
  std::array<char, kReadBytes> scratch_{};
  ServerConnection::Shared shared_;
  bool short_of_descriptors_ = false;
  rt::TaskScope scope_;
};

HttpServer::HttpServer(rt::Loop& loop, std::unique_ptr<Listener> listener, HttpHandler& handler,
                       HttpServerOptions options)
    : impl_(std::make_unique<Impl>(loop, std::move(listener), handler, std::move(options))) {}
HttpServer::~HttpServer() = default;

void HttpServer::start() {
  impl_->start();
}
Task<void> HttpServer::close() {
  return impl_->close();
}
std::uint16_t HttpServer::port() const {
  return impl_->port();
}
std::size_t HttpServer::connections() const {
  return impl_->connections();
}

}  // namespace muster::net
