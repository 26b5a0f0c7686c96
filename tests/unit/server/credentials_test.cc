#include "server/access/credentials.h"

#include <sys/stat.h>

#include <fstream>

#include <gtest/gtest.h>

#include "home.h"
#include "net/tls/signing.h"

namespace muster::server {
namespace {

constexpr Time kNow = Time(std::chrono::seconds(1'790'000'000));

class CredentialsTest : public testing::Test {
 protected:
  Home home_;
  SeededRng rng_{3};
  CredentialOptions options_{.path = home_.path() + "/api-credentials",
                             .dns_names = {"kubernetes.default.svc"},
                             .ip_addresses = {"127.0.0.1", "10.96.0.1"}};

  Credentials load(Time now = kNow) {
    auto loaded = load_credentials(options_, rng_, now);
    EXPECT_TRUE(loaded) << loaded.error().message;
    return std::move(*loaded);
  }
};

TEST_F(CredentialsTest, AreMadeOnceAndKeptForTheirOwnerOnly) {
  const auto first = load();
  struct stat info{};
  ASSERT_EQ(::stat(options_.path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777U, 0600U);
  const auto names = net::parse_certificates(first.server.certificate_pem)->front();
  EXPECT_EQ(names.dns_names, options_.dns_names);
  EXPECT_EQ(names.ip_addresses, options_.ip_addresses);
  EXPECT_TRUE(net::parse_certificates(first.ca_pem)->front().is_ca);
  const auto again = load();
  EXPECT_EQ(again.ca_pem, first.ca_pem);
  EXPECT_EQ(again.server.certificate_pem, first.server.certificate_pem);
  EXPECT_EQ(again.token_key.reveal(), first.token_key.reveal());
  EXPECT_TRUE(net::SigningKey::from_pem(first.token_key));
  EXPECT_EQ(again.admin_token.reveal(), first.admin_token.reveal());
  EXPECT_EQ(again.admin_token.reveal().size(), 64U);
}

TEST_F(CredentialsTest, OnlyWhatEndsSoonIsRenewed) {
  const auto first = load();
  const auto later = load(kNow + std::chrono::hours(24 * 300));
  EXPECT_EQ(later.ca_pem, first.ca_pem);
  EXPECT_NE(later.server.certificate_pem, first.server.certificate_pem);
  EXPECT_EQ(later.token_key.reveal(), first.token_key.reveal());
  const auto much_later = load(kNow + std::chrono::hours(24 * 365 * 10));
  EXPECT_NE(much_later.ca_pem, first.ca_pem);
  EXPECT_EQ(much_later.admin_token.reveal(), first.admin_token.reveal());
}

TEST_F(CredentialsTest, AnotherNameNeedsAnotherCertificate) {
  const auto first = load();
  options_.ip_addresses.emplace_back("10.97.0.1");
  EXPECT_NE(load().server.certificate_pem, first.server.certificate_pem);
  EXPECT_EQ(load().ca_pem, first.ca_pem);
}

TEST_F(CredentialsTest, ADamagedFileIsNamed) {
  std::ofstream(options_.path) << "half a";
  const auto loaded = load_credentials(options_, rng_, kNow);
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().message,
            options_.path +
                " is damaged; without it a new one is made, and every token given out so "
                "far is void");
}

}  // namespace
}  // namespace muster::server
