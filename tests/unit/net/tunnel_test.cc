#include "net/tunnel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "net/http_client.h"
#include "net/http_server.h"
#include "rt/scope.h"
#include "support.h"

namespace muster::net {
namespace {

using namespace std::chrono_literals;
using testing::Certificates;
using ::testing::HasSubstr;
using ::testing::Not;

// A proxy that answers as the test says, and carries on to a port when that is 200.
class Proxy {
 public:
  Proxy(rt::RealLoop& loop, rt::Pool& pool)
      : loop_(loop), pool_(pool), listener_(listen_tcp(loop, {}).value()), scope_(loop) {
    scope_.spawn(accept_loop());
  }
  Task<void> close() {
    listener_->close();
    for (auto& stream : streams_) stream->close();
    co_await scope_.close();
  }
  [[nodiscard]] HttpProxy address() const {
    return {.host = "127.0.0.1", .port = listener_->port(), .authorization = Secret("Basic abc")};
  }

  std::string answer = "HTTP/1.1 200 Connection established\r\n\r\n";
  std::uint16_t target = 0;
  std::vector<std::string> asked;

 private:
  Task<void> accept_loop() {
    while (true) {
      auto stream = co_await listener_->accept();
      if (!stream) co_return;
      streams_.push_back(std::move(*stream));
      scope_.spawn(serve(streams_.back()));
    }
  }
  Task<void> serve(std::shared_ptr<Stream> client) {
    std::string head;
    std::vector<char> buffer(1024);
    while (!head.contains("\r\n\r\n")) {
      const auto count = co_await client->read(buffer);
      if (!count || *count == 0) co_return;
      head.append(buffer.data(), *count);
    }
    asked.push_back(head);
    if (!co_await client->write(answer) || target == 0) co_return client->close();
    const auto connector = tcp_connector(loop_, pool_, {.host = "127.0.0.1", .port = target});
    auto connected = co_await connector->connect();
    if (!connected) co_return client->close();
    const std::shared_ptr<Stream> server = std::move(*connected);
    streams_.push_back(server);
    scope_.spawn(carry(client, server));
    co_await carry(server, client);
  }
  static Task<void> carry(std::shared_ptr<Stream> from, std::shared_ptr<Stream> to) {
    std::vector<char> buffer(16384);
    while (true) {
      const auto count = co_await from->read(buffer);
      if (!count || *count == 0) co_return to->close();
      if (!co_await to->write({buffer.data(), *count})) co_return;
    }
  }

  rt::RealLoop& loop_;
  rt::Pool& pool_;
  std::unique_ptr<Listener> listener_;
  std::vector<std::shared_ptr<Stream>> streams_;
  rt::TaskScope scope_;
};

class Hello final : public HttpHandler {
 public:
  Task<void> handle(const HttpRequest& request, Responder& responder) override {
    HttpResponse response{.status = 200, .body = "hello " + request.target};
    [[maybe_unused]] const auto sent = co_await responder.respond(std::move(response));
  }
};

class TunnelTest : public ::testing::Test {
 protected:
  ~TunnelTest() override { loop_.run(proxy_.close()); }

  Result<std::unique_ptr<Stream>> connect(HttpProxy proxy) {
    const auto context = TlsContext::client({.ca_pem = all_.ca.certificate_pem}).value();
    connector_ = tcp_connector(loop_, pool_, {.host = "localhost", .port = 6443, .tls = context},
                               std::move(proxy));
    return loop_.run(connector_->connect());
  }
  std::string error_with(const std::string& answer) {
    proxy_.answer = answer;
    const auto stream = connect(proxy_.address());
    return stream ? "" : stream.error().message;
  }

  Certificates all_ = Certificates::make();
  rt::RealLoop loop_;
  rt::Pool pool_{1};
  Proxy proxy_{loop_, pool_};
  std::unique_ptr<Connector> connector_;
};

TEST_F(TunnelTest, TlsGoesThroughToTheServerAndTheNameIsNotLookedUpHere) {
  Hello hello;
  const auto context = TlsContext::server({.identity = all_.server}).value();
  HttpServer server(loop_, listen_tcp(loop_, {.tls = context}).value(), hello);
  server.start();
  proxy_.target = server.port();
  const auto client_context = TlsContext::client({.ca_pem = all_.ca.certificate_pem}).value();
  HttpClient client(
      loop_, tcp_connector(loop_, pool_, {.host = "localhost", .port = 6443, .tls = client_context},
                           proxy_.address()));
  EXPECT_EQ(loop_.run(client.send({.target = "/a"})).value().body, "hello /a");
  EXPECT_EQ(loop_.run(client.send({.target = "/b"})).value().body, "hello /b");
  loop_.run(client.close());
  ASSERT_EQ(proxy_.asked.size(), 1U);
  EXPECT_THAT(proxy_.asked[0], ::testing::StartsWith("CONNECT localhost:6443 HTTP/1.1\r\n"));
  EXPECT_THAT(proxy_.asked[0], HasSubstr("Host: localhost:6443\r\n"));
  EXPECT_THAT(proxy_.asked[0], HasSubstr("Proxy-Authorization: Basic abc\r\n"));
  loop_.run(server.close());
}

TEST_F(TunnelTest, WhatTheProxyRefusesIsSaidWithItsName) {
  const std::string name = proxy_.address().describe();
  EXPECT_EQ(
      error_with("HTTP/1.1 502 Bad Gateway\r\nContent-Length: 2\r\n\r\nno"),
      "https://localhost:6443: " + name + ": it does not connect to localhost:6443: status 502");
  EXPECT_THAT(error_with("HTTP/1.1 407 Wanted\r\n\r\n"),
              HasSubstr("refuses the user or the password (407)"));
  EXPECT_THAT(error_with("SSH-2.0\r\n"), HasSubstr("not HTTP"));
  EXPECT_THAT(error_with(""), HasSubstr("closed the connection without an answer"));
  EXPECT_THAT(error_with("HTTP/1.1 200 OK\r\n\r\nsurprise"), HasSubstr("more than an answer"));
  for (const auto& request : proxy_.asked) EXPECT_THAT(request, HasSubstr("abc"));
}

TEST_F(TunnelTest, AProxyThatIsNotThereIsNamed) {
  EXPECT_THAT(connect({.host = "127.0.0.1", .port = 1}).error().message,
              HasSubstr("proxy http://127.0.0.1:1: Connection refused"));
}

}  // namespace
}  // namespace muster::net
