#include "api/names.h"

#include <gtest/gtest.h>

namespace muster::api {
namespace {

using Check = std::optional<std::string> (*)(std::string_view);

void expect_good(Check check, const std::vector<std::string>& names) {
  for (const auto& name : names) EXPECT_EQ(check(name), std::nullopt) << name;
}

void expect_bad(Check check, const std::vector<std::string>& names) {
  for (const auto& name : names) EXPECT_NE(check(name), std::nullopt) << name;
}

TEST(Names, DnsLabel) {
  expect_good(check_dns_label, {"a", "0", "bert-worker-0", "123-abc", std::string(63, 'a')});
  expect_bad(check_dns_label,
             {"", "-a", "a-", "A", "a.b", "a_b", "a b", "ä", std::string(64, 'a')});
}

TEST(Names, DnsSubdomain) {
  expect_good(check_dns_subdomain,
              {"a", "a.b", "1.2", "mindspore.gitee.com", std::string(253, 'a')});
  expect_bad(check_dns_subdomain,
             {"", ".", "a.", ".a", "a..b", "a.-b", "A.b", "a/b", std::string(254, 'a')});
}

TEST(Names, ServiceNamesBeginWithALetter) {
  expect_good(check_service_name, {"a", "abc-123", std::string(63, 'a')});
  expect_bad(check_service_name, {"", "1a", "a.b", "-a", "a-", "A", std::string(64, 'a')});
}

TEST(Names, LabelKey) {
  expect_good(check_label_key, {"a", "A_b.c-d", "muster.dev/role", "x/" + std::string(63, 'a')});
  expect_bad(check_label_key, {"", "/a", "a/", "a/b/c", "-a", "a b", "Upper.dev/a", "a=b",
                               "x/" + std::string(64, 'a'), std::string(254, 'a') + "/a"});
}

TEST(Names, LabelValue) {
  expect_good(check_label_value, {"", "a", "1.2_3-X", std::string(63, 'a')});
  expect_bad(check_label_value, {"-", "a-", "_a", "a/b", "a b", "a,b", std::string(64, 'a')});
}

TEST(Names, EnvName) {
  expect_good(check_env_name, {"PATH", "_x", "a.b", "a-b", "1A", "with space"});
  expect_bad(check_env_name, {"", "a=b", "a\n", "\x7f", "ä", std::string("a\0b", 3)});
}

TEST(Names, PortName) {
  expect_good(check_port_name, {"http", "msjob-port", "p2", "2p", std::string(15, 'a')});
  expect_bad(check_port_name, {"", "80", "a--b", "-a", "a-", "HTTP", "a_b", std::string(16, 'a')});
}

TEST(Names, TheMessageSaysWhatWouldBeRight) {
  EXPECT_EQ(check_dns_label(std::string(70, 'a')), "must be no more than 63 characters, it has 70");
  EXPECT_TRUE(check_dns_label("A")->contains("lower case"));
}

}  // namespace
}  // namespace muster::api
