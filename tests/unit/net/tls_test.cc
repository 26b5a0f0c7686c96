#include "net/tls/tls.h"

#include <gtest/gtest.h>

#include "support.h"

namespace muster::net {
namespace {

TEST(Certificates, SayWhatWasAskedFor) {
  const Time now = std::chrono::sys_days(std::chrono::year(2026) / 11 / 15);
  const auto identity = make_self_signed({.common_name = "node-1",
                                          .organizations = {"a", "b"},
                                          .dns_names = {"localhost", "node.example"},
                                          .ip_addresses = {"127.0.0.1", "::1"},
                                          .valid_for = std::chrono::hours(48)},
                                         now)
                            .value();
  const auto infos = parse_certificates(identity.certificate_pem).value();
  ASSERT_EQ(infos.size(), 1U);
  EXPECT_EQ(infos[0].common_name, "node-1");
  EXPECT_EQ(infos[0].organizations, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(infos[0].dns_names, (std::vector<std::string>{"localhost", "node.example"}));
  EXPECT_EQ(infos[0].ip_addresses, (std::vector<std::string>{"127.0.0.1", "::1"}));
  EXPECT_EQ(infos[0].not_after, now + std::chrono::hours(48));
  EXPECT_FALSE(infos[0].is_ca);
}

TEST(Certificates, MayLastLongerThanNanosecondsCanSay) {
  const Time now = std::chrono::sys_days(std::chrono::year(2026) / 11 / 15);
  const auto identity =
      make_self_signed({.common_name = "x", .valid_for = std::chrono::hours(24 * 365 * 5'000)}, now)
          .value();
  EXPECT_GT(parse_certificates(identity.certificate_pem).value()[0].not_after, now);
}

TEST(Certificates, RefuseNamesThatWouldSmuggleOthersIn) {
  EXPECT_FALSE(
      make_self_signed({.common_name = "x", .dns_names = {"a,IP:1.2.3.4"}}, Time{}).has_value());
}

TEST(ParseCertificates, BoundsAndExplains) {
  EXPECT_EQ(parse_certificates("").error().code, ErrorCode::Invalid);
  EXPECT_EQ(parse_certificates("hello").error().code, ErrorCode::Invalid);
  EXPECT_EQ(parse_certificates(std::string(kMaxPemBytes + 1, 'x')).error().code,
            ErrorCode::TooLarge);
  EXPECT_FALSE(parse_certificates("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n")
                   .has_value());
  const auto all = testing::Certificates::make();
  EXPECT_EQ(parse_certificates(all.ca.certificate_pem + all.server.certificate_pem).value().size(),
            2U);
}

TEST(TlsContext, RefusesAKeyOfAnotherCertificateWithoutShowingIt) {
  const auto all = testing::Certificates::make();
  const auto mixed =
      TlsContext::client({.identity = {all.client.certificate_pem, all.server.key_pem}});
  ASSERT_FALSE(mixed.has_value());
  EXPECT_NE(mixed.error().message.find("does not belong"), std::string::npos)
      << mixed.error().message;
  EXPECT_FALSE(
      TlsContext::client({.identity = {all.client.certificate_pem, Secret()}}).has_value());
  const auto garbage =
      TlsContext::client({.identity = {all.client.certificate_pem, Secret("hunter2")}});
  ASSERT_FALSE(garbage.has_value());
  EXPECT_EQ(garbage.error().message.find("hunter2"), std::string::npos);
  EXPECT_FALSE(TlsContext::server({}).has_value());
}

}  // namespace
}  // namespace muster::net
