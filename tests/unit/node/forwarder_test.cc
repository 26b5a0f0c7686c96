#include "node/network/forwarder.h"

#include <gtest/gtest.h>

#include "net/http_client.h"
#include "net/http_server.h"
#include "rt/pool.h"

namespace muster::node {
namespace {

using namespace std::chrono_literals;

class Echo final : public net::HttpHandler {
 public:
  Task<void> handle(const net::HttpRequest& request, net::Responder& responder) override {
    [[maybe_unused]] const auto sent =
        co_await responder.respond({.status = 200, .headers = {}, .body = request.body});
  }
};

class ForwarderTest : public testing::Test {
 protected:
  rt::RealLoop loop_;
  rt::Pool pool_{1};
  Echo echo_;

  std::unique_ptr<net::Connector> to(std::uint16_t port) {
    return net::tcp_connector(loop_, pool_, {.host = "127.0.0.1", .port = port});
  }
  std::unique_ptr<Forwarder> forwarder(std::uint16_t target, std::string device = "lo",
                                       std::uint16_t port = 0) {
    auto made = Forwarder::start(
        loop_,
        {.address = "127.0.0.1", .device = std::move(device), .port = port, .target = to(target)});
    EXPECT_TRUE(made) << made.error().message;
    return made ? std::move(*made) : nullptr;
  }
};

TEST_F(ForwarderTest, CarriesBothWays) {
  net::HttpServer server(loop_, *net::listen_tcp(loop_, {}), echo_);
  server.start();
  const auto middle = forwarder(server.port());
  net::HttpClient client(loop_, to(middle->port()));
  const std::string large(1U << 20U, 'x');
  for (const std::string& body : {std::string("hello"), large}) {
    const auto answer = loop_.run(client.send({.method = "POST", .body = body}));
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_EQ(answer->body, body);
  }
  loop_.run(client.close());
  loop_.run(middle->close());
  loop_.run(server.close());
}

TEST_F(ForwarderTest, EndsConnectionsWithItself) {
  net::HttpServer server(loop_, *net::listen_tcp(loop_, {}), echo_);
  server.start();
  const auto middle = forwarder(server.port());
  auto stream = loop_.run(to(middle->port())->connect());
  ASSERT_TRUE(stream);
  ASSERT_TRUE(loop_.run((*stream)->write("GET / HTTP/1.1\r\nHost: x\r\n\r\n")));
  std::array<char, 4096> buffer;
  EXPECT_GT(*loop_.run((*stream)->read(buffer)), 0U);
  loop_.run(middle->close());
  const auto end = loop_.run((*stream)->read(buffer));
  EXPECT_TRUE(!end || *end == 0);
  loop_.run(server.close());
}

TEST_F(ForwarderTest, AClientOfAnAbsentServerIsHungUpOn) {
  auto gone = *net::listen_tcp(loop_, {});
  const auto port = gone->port();
  gone->close();
  const auto middle = forwarder(port);
  auto stream = loop_.run(to(middle->port())->connect());
  ASSERT_TRUE(stream);
  std::array<char, 16> buffer;
  const auto end = loop_.run(rt::with_timeout(loop_, 5s, (*stream)->read(buffer)));
  EXPECT_TRUE(!end || *end == 0);
  loop_.run(middle->close());
}

TEST_F(ForwarderTest, ALinkThatIsNotThereIsAnError) {
  const auto made =
      Forwarder::start(loop_, {.address = "127.0.0.1", .device = "nosuchlink", .target = to(1)});
  ASSERT_FALSE(made);
  EXPECT_NE(made.error().message.find("nosuchlink"), std::string::npos);
}

TEST_F(ForwarderTest, APortThatIsTakenIsReplaced) {
  auto taken = *net::listen_tcp(loop_, {});
  const auto middle = forwarder(1, "lo", taken->port());
  EXPECT_NE(middle->port(), taken->port());
  loop_.run(middle->close());
}

}  // namespace
}  // namespace muster::node
