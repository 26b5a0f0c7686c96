#include "cluster/kube/config/proxy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::cluster::kube {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::string read(std::string_view url) {
  const auto proxy = parse_proxy(url);
  if (!proxy) return "! " + proxy.error().message;
  return proxy->host + " " + std::to_string(proxy->port) + " " + proxy->authorization.reveal();
}

TEST(Proxy, IsReadFromItsUrl) {
  EXPECT_EQ(read("http://proxy.corp:3128"), "proxy.corp 3128 ");
  EXPECT_EQ(read("HTTP://proxy.corp/"), "proxy.corp 80 ");
  EXPECT_EQ(read("proxy.corp:8080"), "proxy.corp 8080 ");
  EXPECT_EQ(read("http://[fd00::1]:3128"), "fd00::1 3128 ");
  EXPECT_EQ(read("http://me:p%40ss@proxy:1"), "proxy 1 Basic bWU6cEBzcw==");
  EXPECT_EQ(read("http://me@proxy:1"), "proxy 1 Basic bWU6");
}

TEST(Proxy, WhatItCannotBeIsSaidWithoutThePassword) {
  for (const char* url :
       {"socks5://me:s3cr3t@p:1", "https://me:s3cr3t@p:1", "http://me:s3cr3t@p:0",
        "http://me:s3cr3t@p:70000", "http://me:s3cr3t@", "http://me:s3cr3t%zz@p"}) {
    EXPECT_THAT(read(url),
                AllOf(HasSubstr("! proxy \""), HasSubstr("http://[USER:PASSWORD@]HOST[:PORT]"),
                      Not(HasSubstr("s3cr3t"))))
        << url;
  }
  EXPECT_THAT(read("socks5://p"), HasSubstr("socks5 proxies are not supported"));
}

struct Row {
  const char* host;
  const char* no_proxy;
  bool direct;
};

TEST(Proxy, IsNotUsedForThisMachineAndForWhatNoProxyNames) {
  const std::vector<Row> rows = {
      {"api.corp", "", false},
      {"localhost", "", true},
      {"127.0.0.1", "", true},
      {"127.9.9.9", "", true},
      {"::1", "", true},
      {"128.0.0.1", "", false},
      {"localhost.corp", "", false},
      {"api.corp", "*", true},
      {"api.corp", "corp", true},
      {"corp", "corp", true},
      {"acorp", "corp", false},
      {"api.corp", ".corp", true},
      {"corp", ".corp", false},
      {"api.corp", "*.corp", true},
      {"API.Corp", " api.CORP ", true},
      {"api.corp", "other, api.corp", true},
      {"api.corp", "api.corp:6443", true},
      {"api.corp", "api.corp:443", false},
      {"10.1.2.3", "10.0.0.0/8", true},
      {"11.1.2.3", "10.0.0.0/8", false},
      {"10.1.2.3", "10.1.2.0/30", true},
      {"10.1.2.4", "10.1.2.0/30", false},
      {"10.1.2.3", "0.0.0.0/0", true},
      {"10.1.2.3", "10.1.2.3", true},
      {"10.1.2.3", "10.1.2.3:6443", true},
      {"10.1.2.3", "10.1.2.3:1", false},
      {"10.1.2.3", ".2.3", true},
      {"fd00::7", "fd00::/16", true},
      {"fd00::7", "10.0.0.0/8", false},
      {"fd00::7", "fd00:0::7", true},
      {"fd00::7", "[fd00::7]:6443", true},
      {"api.corp", "10.0.0.0/8", false},
      {"api.corp", "10.0.0.0/99,/,.,:,,", false},
  };
  for (const Row& row : rows) {
    const auto proxy = proxy_for({.host = row.host, .port = 6443},
                                 {.https_proxy = "http://p:3128", .no_proxy = row.no_proxy});
    ASSERT_TRUE(proxy);
    EXPECT_EQ(!proxy->has_value(), row.direct) << row.host << " with " << row.no_proxy;
  }
  EXPECT_FALSE(proxy_for({.socket_path = "/s"}, {.https_proxy = "http://p"}).value());
  EXPECT_FALSE(proxy_for({.host = "h", .port = 1}, {}).value());
  EXPECT_THAT(proxy_for({.host = "h", .port = 1}, {.https_proxy = "socks5://p"}).error().message,
              HasSubstr("HTTPS_PROXY: proxy \"socks5://p\""));
}

}  // namespace
}  // namespace muster::cluster::kube
