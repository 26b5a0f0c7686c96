#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bare_context.h"
#include "cli/cluster/kube_client.h"
#include "cli/cluster/own_cluster.h"
#include "temporary_home.h"

namespace muster::cli {
namespace {

using ::testing::HasSubstr;

// The files of a service account, or some of them.
class AccountFiles final : public cluster::kube::FileReader {
 public:
  std::map<std::string, std::string> files{{"token", "jwt"}, {"ca.crt", "pem"}};

  [[nodiscard]] Result<std::string> read(const std::string& path) const override {
    const std::filesystem::path file(path);
    const auto found = files.find(file.filename());
    if (found == files.end() ||
        file.parent_path() != "/var/run/secrets/kubernetes.io/serviceaccount") {
      return fail(ErrorCode::NotFound, path + ": no such file");
    }
    return found->second;
  }
};

// A command in the operator's own image: HOME is /, and nobody has a home of ours.
class OwnCluster : public ::testing::Test {
 protected:
  OwnCluster() {
    bare_.context.environment = {{"KUBERNETES_SERVICE_HOST", "10.96.0.1"},
                                 {"KUBERNETES_SERVICE_PORT", "443"},
                                 {"HOME", "/"}};
  }
  Context& context() { return bare_.context; }
  bool meant(const std::string& home_flag = "") {
    return means_own_cluster(context(), home_flag, files_);
  }

  BareContext bare_;
  AccountFiles files_;
};

TEST_F(OwnCluster, IsMeantInAPodWithoutAHome) {
  EXPECT_TRUE(meant());
  context().environment.erase("HOME");
  EXPECT_TRUE(meant());
  context().environment["HOME"] = "/nothing/there";
  EXPECT_TRUE(meant());
}

TEST_F(OwnCluster, AHomeOfOursIsMeantInstead) {
  const TemporaryHome user;
  context().environment["HOME"] = user.path;
  EXPECT_TRUE(meant());
  std::filesystem::create_directory(user.path + "/.muster");
  EXPECT_FALSE(meant());
}

TEST_F(OwnCluster, WhateverSaysWhereCountsMore) {
  EXPECT_FALSE(meant("/home"));
  context().environment["MUSTER_HOME"] = "/home";
  EXPECT_FALSE(meant());
  context().environment.erase("MUSTER_HOME");
  context().environment["KUBECONFIG"] = "/config";
  EXPECT_FALSE(meant());
  context().environment.erase("KUBECONFIG");
  context().kube_context = "other";
  EXPECT_FALSE(meant());
  context().kube_context.reset();
  EXPECT_TRUE(meant());
}

TEST_F(OwnCluster, OutsideOfAPodThereIsNone) {
  files_.files.erase("token");  // automountServiceAccountToken: false
  EXPECT_FALSE(meant());
  files_.files["token"] = "jwt";
  context().environment.erase("KUBERNETES_SERVICE_HOST");
  EXPECT_FALSE(meant());
}

TEST_F(OwnCluster, ATokenThatIsNoGoodIsSaidNotPassedOver) {
  files_.files["token"] = "";
  EXPECT_TRUE(meant());
}

// What main() writes for it is a cluster, by the service account and by no kubeconfig.
TEST_F(OwnCluster, IsOpenedByTheServiceAccount) {
  context().kubeconfig = "";
  context().environment["KUBECONFIG"] = "/config";
  EXPECT_TRUE(context().wants_cluster());
  const auto config = client_config(context());
  ASSERT_FALSE(config) << "these tests run in a pod?";
  EXPECT_THAT(config.error().message, HasSubstr("/var/run/secrets/kubernetes.io/serviceaccount"));
}

}  // namespace
}  // namespace muster::cli
