#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/fd.h"
#include "cli/cluster/bind_address.h"
#include "rt/real_loop.h"

namespace muster::cli {
namespace {

using ::testing::ElementsAre;

BindAddress parsed(const std::string& text) {
  const auto address = parse_bind_address(text);
  EXPECT_TRUE(address && *address) << text;
  return address && *address ? **address : BindAddress{};
}

// Whether somebody listens at that port of the loopback address of a family.
bool connects(int family, std::uint16_t port) {
  sockaddr_in6 v6{.sin6_family = AF_INET6, .sin6_port = htons(port), .sin6_addr = in6addr_loopback};
  sockaddr_in v4{.sin_family = AF_INET, .sin_port = htons(port)};
  v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const Fd socket(::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  return family == AF_INET6
             ? ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&v6), sizeof v6) == 0
             : ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&v4), sizeof v4) == 0;
}

bool has_ipv6() {
  const Fd socket(::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in6 any{.sin6_family = AF_INET6, .sin6_addr = in6addr_loopback};
  return socket.valid() &&
         ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&any), sizeof any) == 0;
}

class Listening : public ::testing::Test {
 protected:
  Result<std::unique_ptr<net::Listener>> at(const std::string& text) {
    return listen_at(parsed(text), [this](net::TcpListenOptions options) {
      return net::listen_tcp(loop_, std::move(options));
    });
  }
  rt::RealLoop loop_;
};

TEST(BindAddress, AsItIsWritten) {
  EXPECT_EQ(parsed("127.0.0.1:8080").host, "127.0.0.1");
  EXPECT_EQ(parsed("[::1]:8080").host, "::1");
  EXPECT_EQ(parsed("[::1]:8080").port, 8080);
  EXPECT_EQ(parsed(":8081").host, "");
  EXPECT_EQ(parsed(":8081").port, 8081);
  EXPECT_EQ(*parse_bind_address("0"), std::nullopt);
  for (const char* text : {"here", "127.0.0.1", ":x", "[::1]", ":65536"})
    EXPECT_FALSE(parse_bind_address(text)) << text;
}

TEST_F(Listening, AllAddressesAreOfBothFamilies) {
  const auto listener = at(":0");
  ASSERT_TRUE(listener) << listener.error().message;
  EXPECT_TRUE(connects(AF_INET, (*listener)->port()));
  if (!has_ipv6()) GTEST_SKIP() << "this machine has no IPv6";
  EXPECT_TRUE(connects(AF_INET6, (*listener)->port()));
}

TEST_F(Listening, OneAddressIsThatAlone) {
  const auto v4 = at("127.0.0.1:0");
  ASSERT_TRUE(v4) << v4.error().message;
  EXPECT_TRUE(connects(AF_INET, (*v4)->port()));
  if (!has_ipv6()) GTEST_SKIP() << "this machine has no IPv6";
  EXPECT_FALSE(connects(AF_INET6, (*v4)->port()));
  const auto v6 = at("[::1]:0");
  ASSERT_TRUE(v6) << v6.error().message;
  EXPECT_TRUE(connects(AF_INET6, (*v6)->port()));
  EXPECT_FALSE(connects(AF_INET, (*v6)->port()));
}

TEST_F(Listening, WhereTheKernelHasNoIpv6ItIsIpv4) {
  std::vector<std::string> tried;
  const auto listener = listen_at(parsed(":0"), [&](net::TcpListenOptions options) {
    tried.push_back(options.address);
    if (options.address == "::") {
      return Result<std::unique_ptr<net::Listener>>(fail_errno("socket", EAFNOSUPPORT));
    }
    return net::listen_tcp(loop_, std::move(options));
  });
  ASSERT_TRUE(listener) << listener.error().message;
  EXPECT_THAT(tried, ElementsAre("::", "0.0.0.0"));
  EXPECT_TRUE(connects(AF_INET, (*listener)->port()));
}

TEST_F(Listening, APortThatIsTakenIsSaid) {
  const auto first = at(":0");
  ASSERT_TRUE(first) << first.error().message;
  const auto second = at(":" + std::to_string((*first)->port()));
  ASSERT_FALSE(second);
  EXPECT_THAT(second.error().message, ::testing::HasSubstr("in use"));
}

}  // namespace
}  // namespace muster::cli
