#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/cluster/unused_kubeconfig.h"
#include "words_fixture.h"

namespace muster::cli {
namespace {

using ::testing::HasSubstr;

// What is said of this machine: its images, and a KUBECONFIG that means nothing here.
class MachineWords : public WordsTest {
 protected:
  std::string file(const std::string& name, const std::string& text) {
    const std::string path = home() + "/" + name;
    std::ofstream(path) << text;
    return path;
  }
  std::string told(const std::string& kubeconfig, bool wants_cluster = false) {
    return outcome([&](Context& context) -> Task<int> {
             context.environment["KUBECONFIG"] = kubeconfig;
             if (wants_cluster) context.kubeconfig = "/other";
             note_unused_kubeconfig(context);
             co_return 0;
           })
        .err;
  }
};

TEST_F(MachineWords, ImagesWithoutRows) {
  EXPECT_EQ(run({"images"}).out,
            fmt::format("No rows: {}/images.yaml does not exist or is empty.\n", home()));
}

TEST_F(MachineWords, RowsOfImages) {
  std::filesystem::create_directories(home() + "/over");
  std::filesystem::create_directories(home() + "/full");
  file("images.yaml",
       "images:\n- pattern: team/*\n  entrypoint: [python3, -u]\n  cmd: [train.py]\n"
       "- pattern: bare\n  rootfs: {overHost: over}\n- pattern: full\n  rootfs: full\n");
  const Outcome rows = run({"images"});
  EXPECT_EQ(rows.code, exit_code::kOk);
  EXPECT_THAT(rows.out, HasSubstr("PATTERN   ROOT"));
  EXPECT_THAT(rows.out, HasSubstr("python3 -u"));
  EXPECT_THAT(rows.out, HasSubstr("/over over the host"));
}

TEST_F(MachineWords, WhichRowAnImageHas) {
  file("images.yaml", "images:\n- pattern: team/*\n  cmd: [train.py]\n- pattern: bare\n");
  const std::string pod =
      file("pod.yaml",
           "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n  containers:\n"
           "  - {name: a, image: team/x}\n  - {name: b, image: other, command: [ls]}\n");
  const Outcome fine = run({"images", "-f", pod});
  EXPECT_EQ(fine.code, exit_code::kOk) << fine.err;
  EXPECT_THAT(fine.out, HasSubstr("/images.yaml:2"));
  EXPECT_THAT(fine.out, HasSubstr("none; its command runs on the host's root"));
  const std::string lacking =
      file("lacking.yaml",
           "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n  containers:\n"
           "  - {name: a, image: bare}\n  - {name: b, image: other}\n");
  const Outcome missing = run({"images", "-f", lacking});
  EXPECT_EQ(missing.code, exit_code::kFailed);
  EXPECT_THAT(missing.out, HasSubstr("neither it nor the container names a program"));
  EXPECT_THAT(missing.out, HasSubstr("none, and no command: give the container a command"));
}

TEST_F(MachineWords, ImagesOfNothing) {
  const std::string config =
      file("config.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n");
  EXPECT_EQ(run({"images", "-f", config}).out, "No containers in the manifest.\n");
  EXPECT_EQ(run({"images", "-f", "/nothing/there"}).code, exit_code::kFailed);
  file("images.yaml", "images: 3\n");
  EXPECT_EQ(run({"images"}).code, exit_code::kFailed);
}

TEST_F(MachineWords, AKubeconfigThatIsNotUsedIsSaidOnce) {
  EXPECT_EQ(told("/one"),
            "note: this is about this machine; KUBECONFIG is not used, the cluster that it names "
            "is meant with --kubeconfig /one\n");
  EXPECT_EQ(told("/one"), "");
  EXPECT_THAT(told("/two"), HasSubstr("--kubeconfig /two"));
  EXPECT_EQ(told("/two"), "");
}

TEST_F(MachineWords, AKubeconfigThatIsMeantOrOursIsNotSpokenOf) {
  EXPECT_EQ(told(""), "");
  EXPECT_EQ(told("/one", true), "");
  EXPECT_EQ(told(home() + "/kubeconfig"), "");
}

}  // namespace
}  // namespace muster::cli
