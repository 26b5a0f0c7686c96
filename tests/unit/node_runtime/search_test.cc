#include "node/shim/root/search.h"

#include <filesystem>
#include <fstream>

#include "machine.h"

namespace muster::node {
namespace {

namespace fs = std::filesystem;
using Kept = std::optional<std::vector<std::string>>;

class SearchTest : public RuntimeTest {
 protected:
  void SetUp() override {
    RuntimeTest::SetUp();
    std::string pattern = "/var/tmp/muster-search-XXXXXX";
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    place_ = pattern;
    for (const char* name : {"/with", "/without", "/volume"}) fs::create_directory(place_ + name);
    write_program(place_ + "/with/hello", "with");
    fs::create_directory_symlink("with", place_ + "/link");
  }
  void TearDown() override {
    fs::remove_all(place_);
    RuntimeTest::TearDown();
  }
  static void write_program(const std::string& path, const std::string& says) {
    std::ofstream(path) << "#!/bin/sh\necho " << says << "\n";
    fs::permissions(path, fs::perms::owner_all | fs::perms::others_exec | fs::perms::others_read);
  }
  Kept kept(const std::string& path, const std::string& program = "hello") {
    return shim::narrow_search(program, path, root_, machine_);
  }

  std::string place_;
  shim::RootSpec root_;
  shim::Machine machine_;
};

TEST_F(SearchTest, LeavesOutWhatTheMachineLacks) {
  EXPECT_EQ(kept(place_ + "/without:" + place_ + "/nothing:" + place_ + "/with"),
            Kept({place_ + "/with"}));
  EXPECT_EQ(kept(place_ + "/without"), Kept(std::vector<std::string>{}));
}

TEST_F(SearchTest, KeepsWhatMayBeAnotherInTheContainer) {
  machine_.targets = {place_ + "/volume", "/opt/tool/hello"};
  for (const auto& directory :
       {place_ + "/link", place_ + "/volume", place_ + "/volume/bin", std::string("/opt/tool"),
        std::string("/tmp/bin"), std::string("/dev/shm"), std::string("bin"), std::string(),
        place_ + "/with/../volume"}) {
    EXPECT_EQ(kept(directory), Kept({directory}));
  }
}

TEST_F(SearchTest, SaysNothingOfWhatIsNotLookedForOrNotTheMachines) {
  EXPECT_EQ(kept(place_ + "/with", "./hello"), Kept());
  root_.root = {.kind = RootFilesystem::Kind::Directory, .directory = place_};
  EXPECT_EQ(kept(place_ + "/with"), Kept());
}

TEST_F(SearchTest, ProgramsAreFoundWhereTheyAre) {
  open_runtime();
  pod("a");
  write_program(place_ + "/volume/hello", "volume");
  const auto runs = [&](const std::string& path, int attempt) {
    auto spec = container({"hello"}, attempt);
    spec.env = {{"PATH", path}, {"SEEN", "yes"}};
    spec.mounts.push_back({.source = place_ + "/volume", .target = "/opt/muster-search/bin"});
    const auto outcome = run(runtime_->start_container("a", spec));
    if (!outcome || !outcome->start) return outcome ? outcome->message : outcome.error().message;
    EXPECT_EQ(wait("a", "main", attempt).exit_code, 0);
    return output("a", "main", attempt);
  };
  const auto all = place_ + "/without:" + place_ + "/with:/opt/muster-search/bin:/usr/bin:/bin";
  EXPECT_EQ(runs(all, 0), "with\n");
  EXPECT_EQ(runs("/opt/muster-search/bin:" + all, 1), "volume\n")
      << "the machine has no such place";
  EXPECT_EQ(runs(place_ + "/link", 2), "with\n");
  EXPECT_NE(runs(place_ + "/without", 3).find("executable file not found in $PATH"),
            std::string::npos);
  auto printed = container({"printenv", "PATH"}, 4);
  printed.env = {{"PATH", all}};
  run_container("a", printed);
  EXPECT_EQ(output("a", "main", 4), all + "\n") << "the program's own PATH is the whole one";
  remove("a");
}

}  // namespace
}  // namespace muster::node
