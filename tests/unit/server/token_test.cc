#include "server/access/token.h"

#include <gtest/gtest.h>

#include "base/strings.h"

namespace muster::server {
namespace {

using namespace std::chrono_literals;

constexpr Time kNow = Time(std::chrono::seconds(1'790'000'000));

std::string url(std::string_view bytes) {
  std::string text = base64_encode(bytes);
  for (char& c : text) c = c == '+' ? '-' : c == '/' ? '_' : c;
  while (text.ends_with('=')) text.pop_back();
  return text;
}

class TokenTest : public testing::Test {
 protected:
  net::SigningKey key_ = *net::SigningKey::generate();
  TokenClaims claims_{.audiences = {std::string(kApiAudience)},
                      .ns = "default",
                      .account = "trainer",
                      .account_uid = "a-1",
                      .pod = "worker-0",
                      .pod_uid = "p-1",
                      .id = "t-1",
                      .issued = kNow,
                      .expires = kNow + 1h};

  std::string good() { return *sign_token(key_, claims_); }
  std::string why(std::string_view token, Time now = kNow,
                  std::string_view audience = kApiAudience) {
    const auto verified = verify_token(key_, token, audience, now);
    if (verified) return "valid";
    EXPECT_EQ(verified.error().code, ErrorCode::Unauthorized);
    return verified.error().message;
  }
  // A token of any parts, signed with our own key.
  std::string made_of(std::string_view head, std::string_view body) {
    const std::string text = url(head) + "." + url(body);
    return text + "." + url(*key_.sign(text));
  }
  std::string head(std::string_view algorithm = "ES256") {
    return R"({"alg":")" + std::string(algorithm) + R"(","kid":")" + key_.id() + R"("})";
  }
};

TEST_F(TokenTest, SaysWhatItWasMadeWith) {
  const auto verified = verify_token(key_, good(), kApiAudience, kNow + 10min);
  ASSERT_TRUE(verified) << verified.error().message;
  EXPECT_EQ(*verified, claims_);
  claims_.pod.clear();
  claims_.pod_uid.clear();
  EXPECT_EQ(*verify_token(key_, good(), kApiAudience, kNow), claims_);
}

TEST_F(TokenTest, HoldsFromItsIssueToItsEnd) {
  EXPECT_EQ(why(good(), kNow + 1h - 1s), "valid");
  EXPECT_EQ(why(good(), kNow + 1h), "token: expired");
  EXPECT_EQ(why(good(), kNow - 30s), "valid");  // clocks differ a little
  EXPECT_EQ(why(good(), kNow - 5min), "token: not valid yet");
}

TEST_F(TokenTest, IsForItsAudienceOnly) {
  EXPECT_EQ(why(good(), kNow, "vault"), "token: meant for another audience");
  claims_.audiences = {"vault"};
  EXPECT_EQ(why(good()), "token: meant for another audience");
  claims_.audiences = {"vault", std::string(kApiAudience)};
  EXPECT_EQ(why(good()), "valid");
  claims_.audiences.clear();
  EXPECT_EQ(why(good()), "token: meant for another audience");
}

TEST_F(TokenTest, AnyChangedByteMakesItVoid) {
  const std::string token = good();
  for (std::size_t i = 0; i < token.size(); ++i) {
    std::string changed = token;
    changed[i] = changed[i] == 'A' ? 'B' : 'A';
    // The last character of the signature has bits that mean nothing.
    if (i + 1 < token.size()) EXPECT_NE(why(changed), "valid") << i;
  }
}

TEST_F(TokenTest, AnotherKeyIsNobodys) {
  const auto other = *net::SigningKey::generate();
  EXPECT_EQ(why(*sign_token(other, claims_)), "token: signed with another key");
  // One that claims to be ours.
  const std::string text = url(head()) + "." + std::string(split(good(), '.')[1]);
  EXPECT_EQ(why(text + "." + url(*other.sign(text))), "token: the signature is wrong");
}

TEST_F(TokenTest, TheAlgorithmIsNotTheClientsToChoose) {
  const std::string token = good();
  const std::string body(split(token, '.')[1]);
  EXPECT_EQ(why(url(R"({"alg":"none"})") + "." + body + "."), "token: not signed with ES256");
  EXPECT_EQ(why(url(R"({"alg":"none"})") + "." + body), "token: not three parts");
  EXPECT_EQ(why(url(head("HS256")) + "." + body + "." + url("x")), "token: not signed with ES256");
  EXPECT_EQ(why(url(head("es256")) + "." + body + "." + url("x")), "token: not signed with ES256");
  const std::string critical = R"({"alg":"ES256","crit":["b64"],"kid":")" + key_.id() + R"("})";
  EXPECT_EQ(why(url(critical) + "." + body + "." + url("x")),
            "token: it asks for what we do not know");
  EXPECT_EQ(why(url(head()) + "." + body + "."), "token: the signature is wrong");
  EXPECT_EQ(why(url(head()) + "." + body + "." + url(std::string(64, '\0'))),
            "token: the signature is wrong");
}

TEST_F(TokenTest, WhatIsNoTokenIsRefused) {
  for (const char* text : {"", ".", "..", "...", "a.b.c", "sa-0123456789abcdef", "e30.e30.e30",
                           "e30=.e30.e30", "bnVsbA.bnVsbA.bnVsbA", "e30.e30.e30\n"}) {
    EXPECT_NE(why(text), "valid") << text;
  }
  EXPECT_EQ(why(std::string(kMaxTokenBytes + 1, 'e')), "token: too long");
}

TEST_F(TokenTest, OursButWithOtherClaimsIsRefused) {
  const auto body = [](std::string_view subject, std::string_view rest) {
    return R"({"iss":"https://kubernetes.default.svc.cluster.local","aud":["x"],"iat":1,"nbf":1,)"
           R"("exp":99999999999,"sub":")" +
           std::string(subject) + "\"" + std::string(rest) + "}";
  };
  const std::string bound =
      R"(,"kubernetes.io":{"namespace":"default","serviceaccount":{"name":"a","uid":"u"}})";
  const std::string subject = "system:serviceaccount:default:a";
  EXPECT_EQ(why(made_of(head(), body(subject, bound)), kNow, "x"), "valid");
  EXPECT_EQ(why(made_of(head(), body(subject, ""))), "token: it does not say whose it is");
  EXPECT_EQ(why(made_of(head(), body("system:serviceaccount:kube-system:a", bound))),
            "token: it names two subjects");
  EXPECT_EQ(why(made_of(head(), R"({"iss":"https://elsewhere"})")), "token: iat is not a number");
  EXPECT_EQ(why(made_of(head(), "[]")), "token: a part is not a JSON object");
  EXPECT_EQ(why(made_of(head(), R"({"iat":"now"})")), "token: iat is not a number");
}

TEST_F(TokenTest, AKeyReadBackIsTheSameKey) {
  const auto again = net::SigningKey::from_pem(key_.pem());
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->id(), key_.id());
  EXPECT_TRUE(verify_token(*again, good(), kApiAudience, kNow));
  EXPECT_FALSE(net::SigningKey::from_pem(Secret("no key")));
}

}  // namespace
}  // namespace muster::server
