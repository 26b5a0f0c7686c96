// What every verb may need: who we are, and what the API says when it refuses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/kubernetes_api.h"
#include "agent/own_addresses.h"

namespace muster::agent {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(OwnAddresses, AsTheHostsFileSays) {
  constexpr std::string_view kHosts =
      "# made by the cluster\n127.0.0.1\tlocalhost\n::1 localhost ip6-localhost\n"
      "10.1.0.3   job-0.svc job-0   # ours\n  10.1.0.4\tjob-1\r\nfd00::3 JOB-0\n10.1.0.5 # "
      "job-9\njob-8\n";
  EXPECT_THAT(addresses_in_hosts(kHosts, "job-0"), ElementsAre("10.1.0.3", "fd00::3"));
  EXPECT_THAT(addresses_in_hosts(kHosts, "job-1"), ElementsAre("10.1.0.4"));
  EXPECT_THAT(addresses_in_hosts(kHosts, "job"), IsEmpty());
  EXPECT_THAT(addresses_in_hosts(kHosts, "job-9"), IsEmpty());
  EXPECT_THAT(addresses_in_hosts(kHosts, "job-8"), IsEmpty());
  EXPECT_THAT(addresses_in_hosts("", "job-0"), IsEmpty());
}

TEST(RefusedList, SaysWhichRightIsMissingAndHowToGrantIt) {
  const auto error = refused_list(
      403,
      R"({"kind":"Status","message":"pods is forbidden: User \"system:serviceaccount:team:trainer\" cannot list resource \"pods\" in API group \"\" in the namespace \"jobs\""})",
      "jobs", "/sa");
  EXPECT_EQ(error.code, ErrorCode::Forbidden);
  EXPECT_EQ(error.message,
            "403: service account team:trainer may not list pods in namespace jobs; grant it: "
            "kubectl -n jobs create role pod-lister --verb=list --resource=pods && kubectl -n jobs "
            "create rolebinding pod-lister --role=pod-lister --serviceaccount=team:trainer");
  EXPECT_THAT(refused_list(403, "no", "jobs", "/sa").message,
              HasSubstr("--serviceaccount=jobs:default"));
}

TEST(RefusedList, Others) {
  EXPECT_EQ(refused_list(401, "", "jobs", "/sa").message,
            "401: the API does not accept the token in /sa/token; it has expired, or its pod or "
            "service account is gone");
  EXPECT_EQ(refused_list(503, R"({"message":"busy"})", "jobs", "/sa").message,
            "listing the pods of namespace jobs: 503 Service Unavailable: busy");
  EXPECT_EQ(refused_list(404, "x", "jobs", "/sa").message,
            "listing the pods of namespace jobs: 404 Not Found");
}

}  // namespace
}  // namespace muster::agent
