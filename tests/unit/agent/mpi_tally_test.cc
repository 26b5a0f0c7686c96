// What is said at the end of an MPI job.
#include "agent/mpi/tally/tally.h"

#include <cstdlib>
#include <fstream>

#include <gtest/gtest.h>

#include "agent/mpi/hostfile.h"
#include "agent/mpi/settings.h"

namespace muster::agent::mpi {
namespace {

RankReport started(const char* host, int rank) {
  return {.host = host, .rank = rank};
}
RankReport ended(const char* host, int rank, int code) {
  return {.host = host, .rank = rank, .code = code};
}

std::string remark(const std::vector<RankReport>& reports, const std::vector<std::string>& hosts) {
  Counts counts;
  for (const auto& report : reports) {
    apply(counts, report);
    counts = read_counts(write_counts(counts));  // as it goes through the file
  }
  return remark_on(counts, hosts);
}

TEST(Remark, NothingIsSaidOfAJobThatWentWell) {
  EXPECT_EQ(
      remark({started("w-0.svc", 0), started("w-1", 1), ended("w-0", 0, 0), ended("w-1", 1, 0)},
             {"w-0.svc", "w-1.svc"}),
      "");
}

TEST(Remark, HostsWithoutARank) {
  EXPECT_EQ(remark({started("w-1", 0)}, {"w-0", "w-1", "w-2"}),
            "2 of 3 hosts ran no rank: w-0, w-2");
  EXPECT_EQ(remark({started("10.0.0.1", 0)}, {"10.0.0.1", "10.0.0.2"}),
            "1 of 2 hosts ran no rank: 10.0.0.2");
}

TEST(Remark, WithoutAnyReportNothingIsKnown) {
  EXPECT_EQ(remark({}, {"w-0", "w-1"}), "");
}

TEST(Remark, OfHostsThatCouldNotBeSeenNothingIsSaid) {
  const Counts counts{.ran = {"w-2"}, .unobserved = {"w-0"}};
  EXPECT_EQ(remark_on(read_counts(write_counts(counts)), {"w-0", "w-1", "w-2"}),
            "1 of 3 hosts ran no rank: w-1");
}

TEST(Remark, RanksThatFailed) {
  EXPECT_EQ(remark({ended("w-0", 3, 7)}, {"w-0"}), "1 rank failed: rank 3 on w-0 with exit code 7");
  EXPECT_EQ(remark({ended("w-0", 3, 255)}, {"w-0"}),
            "1 rank failed: rank 3 on w-0 with exit code 255");
  EXPECT_EQ(remark({ended("w-0", 3, 139), ended("w-0", 0, 1)}, {"w-0", "w-1"}),
            "1 of 2 hosts ran no rank: w-1; 2 ranks failed: rank 0 on w-0 with exit code 1, "
            "rank 3 on w-0 with signal 11");
}

TEST(Remark, ARankThatWasStartedAgainCountsAsWhatItBecame) {
  EXPECT_EQ(remark({ended("w-0", 1, 7), started("w-1", 1), ended("w-1", 1, 0)}, {"w-0", "w-1"}),
            "");
}

TEST(Remark, NamesSome) {
  std::vector<std::string> hosts;
  for (int i = 10; i < 30; ++i) hosts.push_back("w-" + std::to_string(i));
  EXPECT_EQ(remark({started("w-29", 0)}, hosts),
            "19 of 20 hosts ran no rank: w-10, w-11, w-12, w-13, w-14, w-15, w-16, w-17 and 11 "
            "more");
}

TEST(TerminationMessage, OursIsOneLineAfterTheProgramsOwn) {
  EXPECT_EQ(with_remark("", "x"), "muster: x\n");
  EXPECT_EQ(with_remark("muster: x\n", "y"), "muster: y\n");
  EXPECT_EQ(with_remark("muster: x\n", ""), "");
  EXPECT_EQ(with_remark("loss 0.1", "x"), "loss 0.1\nmuster: x\n");
  EXPECT_EQ(with_remark("loss 0.1\nmuster: x\n", ""), "loss 0.1\n");
  const auto full = with_remark(std::string(5000, 'l'), "x");
  EXPECT_LE(full.size(), 4096U);
  EXPECT_TRUE(full.ends_with("\nmuster: x\n"));
}

TEST(Hostfile, NamesItsHostsOnce) {
  EXPECT_EQ(hosts_in("# made by muster\nw-0.svc slots=2\n\n  w-1\tslots=1 # here\nw-0.svc\nw-2"),
            (std::vector<std::string>{"w-0.svc", "w-1", "w-2"}));
  EXPECT_TRUE(hosts_in("").empty());
}

TEST(Names, OfPeersAndOfOurselves) {
  EXPECT_EQ(full_name("w-0", "svc"), "w-0.svc");
  EXPECT_EQ(full_name("w-0.svc", "svc"), "w-0.svc");
  EXPECT_EQ(full_name("10.0.0.1", "svc"), "10.0.0.1");
  EXPECT_EQ(full_name("fd00::1", "svc"), "fd00::1");
  EXPECT_EQ(full_name("w-0", ""), "w-0");
  EXPECT_TRUE(is_own_name("w-0", "w-0", "svc"));
  EXPECT_TRUE(is_own_name("w-0.svc", "w-0", "svc"));
  EXPECT_TRUE(is_own_name("w-0.svc.ns.svc.cluster.local", "w-0", "svc"));
  EXPECT_FALSE(is_own_name("w-0.other", "w-0", "svc"));
  EXPECT_FALSE(is_own_name("w-01.svc", "w-0", "svc"));
  EXPECT_FALSE(is_own_name("w-0.svcs", "w-0", "svc"));
  EXPECT_FALSE(is_own_name("w-0.svc", "w-0", ""));
}

class MpiSettings : public ::testing::Test {
 protected:
  MpiSettings() { CHECK(::mkstemp(file_.data()) >= 0); }
  ~MpiSettings() override { ::unlink(file_.c_str()); }

  Result<Settings> with_key(const std::string& text, const std::string& port = "") {
    std::ofstream(file_) << text;
    return read_settings(Environment({{"MUSTER_MPI_KEY", file_}, {"MUSTER_MPI_PORT", port}}));
  }

  std::string file_ = "/tmp/muster-key-XXXXXX";
};

TEST_F(MpiSettings, TheKeyIsSixtyFourDigits) {
  const auto settings = with_key(std::string(62, '0') + "fe\n");
  ASSERT_TRUE(settings) << settings.error().message;
  EXPECT_EQ(settings->key->key.reveal(), std::string(31, '\0') + "\xfe");
  EXPECT_EQ(settings->port, 8122);
  for (const auto& wrong : {std::string("1234"), std::string(64, 'F'), std::string(65, '0')}) {
    const auto refused = with_key(wrong);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().message, file_ + " must hold 64 hexadecimal digits (0-9, a-f)");
  }
  const auto none = read_settings(Environment({{"MUSTER_MPI_KEY", "/nowhere/key"}}));
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().message, "the job's key: /nowhere/key does not exist");
}

TEST_F(MpiSettings, ThePort) {
  EXPECT_EQ(with_key(std::string(64, '0'), "70")->port, 70);
  EXPECT_EQ(with_key(std::string(64, '0'), "70000").error().message,
            "MUSTER_MPI_PORT is \"70000\"; a port is 1 to 65535");
}

}  // namespace
}  // namespace muster::agent::mpi
