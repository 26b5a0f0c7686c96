#include "net/http_server.h"

#include "net/http_server_connection.h"
#include "rt/scope.h"

namespace muster::net {

namespace {
// After accept() failed, mostly because descriptors ran out: time for others to give some back.
constexpr auto kAcceptPause = std::chrono::milliseconds(100);
}  // namespace

class HttpServer::Impl {
 public:
  Impl(rt::Loop& loop, std::unique_ptr<Listener> listener, HttpHandler& handler,
       HttpServerOptions options)
      : loop_(loop),
        listener_(std::move(listener)),
        handler_(handler),
        options_(std::move(options)),
        gate_(loop, static_cast<int>(options_.max_connections)),
        scope_(loop) {}

  void start() { scope_.spawn(accept_loop()); }

  Task<void> close() {
    scope_.request_stop();
    listener_->close();
    co_await scope_.close();
  }

  [[nodiscard]] std::uint16_t port() const { return listener_->port(); }
  [[nodiscard]] std::size_t connections() const { return connections_; }

 private:
  Task<void> accept_loop() {
    while (!scope_.stopping()) {
      auto permit = co_await gate_.enter();
      if (!permit) co_return;
      auto stream = co_await listener_->accept();
      if (stream) {
        scope_.spawn(serve(std::move(*stream), std::move(*permit)));
        continue;
      }
      if (stream.error().code == ErrorCode::Cancelled || scope_.stopping()) co_return;
      options_.log.warning("{}", stream.error().message);
      if (!co_await rt::sleep_for(loop_, kAcceptPause)) co_return;
    }
  }

  Task<void> serve(std::unique_ptr<Stream> stream, rt::Gate::Permit /*held while it runs*/) {
    ++connections_;
    {
      ServerConnection connection(loop_, std::move(stream), handler_, options_);
      co_await connection.run();
    }
    --connections_;
  }

  rt::Loop& loop_;
  std::unique_ptr<Listener> listener_;
  HttpHandler& handler_;
  HttpServerOptions options_;
  std::size_t connections_ = 0;
  rt::Gate gate_;
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
