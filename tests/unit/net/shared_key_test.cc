// TLS with a key that both sides hold, also against OpenSSL's own programs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "net/stream.h"
#include "rt/pool.h"
#include "rt/scope.h"
#include "support.h"

namespace muster::net {
namespace {

using ::testing::HasSubstr;

TlsKeyOptions key(char filled_with, std::string identity = "job") {
  return {.identity = std::move(identity), .key = Secret(std::string(32, filled_with))};
}

class SharedKey : public ::testing::Test {
 protected:
  // What the server read of a client that says "hello", and what the client saw.
  struct Seen {
    Result<std::string> by_server = fail(ErrorCode::Internal, "not run");
    Result<void> by_client;
  };

  Task<void> serve(Listener& listener, Result<std::string>& read) {
    auto stream = co_await listener.accept();
    if (!stream) co_return;
    std::array<char, 64> buffer{};
    const auto count = co_await (*stream)->read(buffer);
    if (count) {
      read = std::string(buffer.data(), *count);
    } else {
      read = fail(count.error());
    }
  }

  Task<Seen> meet(TlsContext server, TlsContext client) {
    Seen seen;
    const auto listener = listen_tcp(loop_, {.tls = server}).value();
    rt::TaskScope scope(loop_);
    scope.spawn(serve(*listener, seen.by_server));
    auto connector =
        tcp_connector(loop_, pool_, {.host = "127.0.0.1", .port = listener->port(), .tls = client});
    auto stream = co_await connector->connect();
    if (stream) {
      seen.by_client = co_await (*stream)->write("hello");
    } else {
      seen.by_client = fail(stream.error());
    }
    co_await scope.join();
    co_return seen;
  }

  Seen run(const TlsContext& server, const TlsContext& client) {
    return loop_.run(meet(server, client));
  }

  rt::RealLoop loop_;
  rt::Pool pool_{1};
};

TEST_F(SharedKey, JoinsThoseWhoHoldIt) {
  const auto seen =
      run(TlsContext::key_server(key('a')).value(), TlsContext::key_client(key('a')).value());
  ASSERT_TRUE(seen.by_client) << seen.by_client.error().message;
  EXPECT_EQ(seen.by_server, "hello");
}

TEST_F(SharedKey, RefusesAnotherKeyAndAnotherName) {
  for (const auto& other : {key('b'), key('a', "another job")}) {
    const auto seen =
        run(TlsContext::key_server(key('a')).value(), TlsContext::key_client(other).value());
    ASSERT_FALSE(seen.by_client);
    EXPECT_EQ(seen.by_client.error().code, ErrorCode::Unauthorized);
    EXPECT_THAT(seen.by_client.error().message, HasSubstr("refuses the shared key"));
    EXPECT_FALSE(seen.by_server);
  }
}

TEST_F(SharedKey, AClientWithoutAnyIsRefused) {
  const auto seen = run(TlsContext::key_server(key('a')).value(),
                        TlsContext::client({.verification = Verification::Insecure}).value());
  EXPECT_FALSE(seen.by_client);
  EXPECT_FALSE(seen.by_server);
}

TEST_F(SharedKey, AServerWithACertificateInsteadIsRefused) {
  const auto all = testing::Certificates::make();
  const auto seen = run(TlsContext::server({.identity = all.server}).value(),
                        TlsContext::key_client(key('a')).value());
  ASSERT_FALSE(seen.by_client);
  EXPECT_FALSE(seen.by_server);
}

TEST_F(SharedKey, HasThirtyTwoBytesAndAName) {
  EXPECT_FALSE(TlsContext::key_client({.identity = "x", .key = Secret("short")}));
  EXPECT_FALSE(TlsContext::key_server(key('a', "")));
}

}  // namespace
}  // namespace muster::net
