#include "cli/cluster/images_file.h"

#include <unistd.h>

#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class ImagesFileTest : public ::testing::Test {
 protected:
  ImagesFileTest() {
    char path[] = "/tmp/muster-images.XXXXXX";
    directory_ = ::mkdtemp(path);
    std::filesystem::create_directories(directory_ + "/root");
  }
  ~ImagesFileTest() override { std::filesystem::remove_all(directory_); }

  [[nodiscard]] std::string path() const { return directory_ + "/images.yaml"; }
  [[nodiscard]] std::vector<WrittenRow> rows(std::string_view text) const {
    auto rows = parse_images(text, path());
    EXPECT_TRUE(rows) << rows.error().message;
    return rows ? *rows : std::vector<WrittenRow>{};
  }
  [[nodiscard]] std::string error(std::string_view text) const {
    const auto rows = parse_images(text, path());
    return rows ? "accepted" : rows.error().message;
  }

  std::string directory_;
};

TEST_F(ImagesFileTest, ReadsEveryFieldAndWhereEachRowIs) {
  const auto found = rows(R"(images:
- pattern: team/train:*
  rootfs: {overHost: root}
  entrypoint: [python3, -u]
  cmd: ["train.py"]
  env: {MODE: "fast", EMPTY: ""}
  workdir: /work
- {pattern: busybox, rootfs: host}

- pattern: whole
  rootfs: ./root
)");
  ASSERT_EQ(found.size(), 3U);
  const auto& first = found[0].row;
  EXPECT_EQ(first.pattern, "team/train:*");
  EXPECT_EQ(first.root, node::ImageRow::Root::DirectoryOverHost);
  EXPECT_EQ(first.directory, directory_ + "/root");
  EXPECT_THAT(first.entrypoint, ElementsAre("python3", "-u"));
  EXPECT_THAT(first.cmd, ElementsAre("train.py"));
  EXPECT_EQ(first.env.at("MODE"), "fast");
  EXPECT_EQ(first.workdir, "/work");
  EXPECT_EQ(found[1].row.root, node::ImageRow::Root::Host);
  EXPECT_EQ(found[2].row.root, node::ImageRow::Root::Directory);
  EXPECT_EQ(found[2].row.directory, directory_ + "/root");
  EXPECT_EQ(found[0].where, path() + ":2");
  EXPECT_EQ(found[1].where, path() + ":8");
  EXPECT_EQ(found[2].where, path() + ":10");
}

TEST_F(ImagesFileTest, AnEmptyFileHasNoRows) {
  EXPECT_TRUE(rows("").empty());
  EXPECT_TRUE(rows("images:\n").empty());
  EXPECT_TRUE(rows("images: []\n").empty());
}

TEST_F(ImagesFileTest, ABadFileSaysWhereAndWhatWouldBeRight) {
  struct Case {
    const char* text;
    const char* line;
    const char* says;
  };
  for (const auto& [text, line, says] : std::initializer_list<Case>{
           {"- pattern: x\n", ":1", "a mapping: images"},
           {"image:\n- pattern: x\n", ":1", "images is the only key"},
           {"images:\n  pattern: x\n", ":1", "a list of rows"},
           {"images:\n- x\n", ":2", "a row is a mapping"},
           {"images:\n- rootfs: host\n", ":2", "pattern is needed"},
           {"images:\n- pattern: 3\n", ":2", "images[0].pattern: is a string"},
           {"images:\n- pattern: x\n  root: host\n", ":3", "a row has pattern, rootfs"},
           {"images:\n- pattern: x\n  rootfs: missing\n", ":3", "missing is not a directory"},
           {"images:\n- pattern: x\n  rootfs: {over: root}\n", ":3", "{overHost: a directory}"},
           {"images:\n- pattern: x\n  entrypoint: python3\n", ":3", "a list of words"},
           {"images:\n- pattern: x\n  cmd:\n  - a\n  - 1\n", ":5", "images[0].cmd[1]: is a string"},
           {"images:\n- pattern: x\n  env: [A]\n", ":3", "names to strings"},
           {"images:\n- pattern: x\n  env:\n    A: b\n    COUNT: 1\n", ":5", "images[0].env.COUNT"},
           {"images:\n- pattern: x\n  workdir: work\n", ":3", "an absolute path"},
           {"images:\n- pattern: x\n- pattern: x\n", ":3", "is already at"},
           {"images:\n- pattern: [x\n", "line 3", "while parsing a flow sequence"},
       }) {
    EXPECT_THAT(error(text), HasSubstr(path())) << text;
    EXPECT_THAT(error(text), HasSubstr(line)) << text;
    EXPECT_THAT(error(text), HasSubstr(says)) << text;
  }
}

}  // namespace
}  // namespace muster::cli
