#include "node/volumes/volumes.h"

#include <sys/stat.h>

#include <fstream>
#include <iterator>

#include "node/volumes/atomic_directory.h"
#include "unit/node/fixture.h"

namespace muster::node {
namespace {

namespace fs = std::filesystem;

std::string content(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

mode_t mode(const fs::path& path) {
  struct stat info{};
  EXPECT_EQ(::stat(path.c_str(), &info), 0) << path;
  return info.st_mode & 07777U;
}

class Volumes : public ::testing::Test {
 protected:
  TemporaryDirectory directory;
  json::Value pod =
      parse(R"j({"metadata":{"name":"p","namespace":"ns","labels":{"b":"2","a":"1\n"}},
      "spec":{"containers":[{"name":"c"}]}})j");
  Place place;
  std::map<Reference, api::ObjectPtr> objects;
  Lookup lookup = [this](const Reference& reference) -> api::ObjectPtr {
    const auto found = objects.find(reference);
    return found == objects.end() ? nullptr : found->second;
  };
  std::map<std::pair<std::string, std::string>, std::string> tokens;
  ClaimedVolumes claimed;

  Result<VolumeSource> make(std::string_view volume) {
    return make_volume({.pod = pod,
                        .place = place,
                        .lookup = lookup,
                        .tokens = tokens,
                        .claimed = claimed,
                        .home = directory.path() + "/home",
                        .directory = directory.path() + "/volumes",
                        .memory_directory = directory.path() + "/memory"},
                       parse(volume));
  }
  void put(ReferenceKind kind, const char* name, const char* object) {
    objects[{kind, name}] = std::make_shared<const json::Value>(parse(object));
  }
};

TEST_F(Volumes, WhatIsMadeForThePodIsItsGroups) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root gives files away";
  const auto group = [](const fs::path& path) {
    struct stat info{};
    EXPECT_EQ(::stat(path.c_str(), &info), 0) << path;
    return info.st_gid;
  };
  put(ReferenceKind::Secret, "s", R"j({"data":{"k":"YQ=="}})j");
  fs::create_directory(directory.path() + "/host");
  const auto host = group(directory.path() + "/host");
  pod["spec"]["securityContext"]["fsGroup"] = 4321;
  pod["spec"]["volumes"] = parse(fmt::format(R"j([{{"name":"e","emptyDir":{{}}}},
      {{"name":"m","emptyDir":{{"medium":"Memory"}}}},
      {{"name":"s","secret":{{"secretName":"s","defaultMode":256}}}},
      {{"name":"h","hostPath":{{"path":"{}/host"}}}}])j",
                                             directory.path()));
  const auto made = make_volumes({.pod = std::make_shared<const json::Value>(pod),
                                  .objects = objects,
                                  .directory = directory.path() + "/volumes",
                                  .memory_directory = directory.path() + "/memory"});
  ASSERT_TRUE(made.has_value()) << made.error().message;
  for (const char* name : {"e", "m"}) {
    EXPECT_EQ(group(made->at(name).path), 4321U) << name;
    EXPECT_EQ(mode(made->at(name).path), 02777U) << name;
  }
  EXPECT_EQ(group(made->at("s").path + "/k"), 4321U);
  EXPECT_EQ(mode(made->at("s").path + "/k"), 0440U);
  EXPECT_EQ(group(directory.path() + "/host"), host) << "it was there before the pod";
}

TEST_F(Volumes, HostPathTypes) {
  const auto at = [this](const std::string& name, const char* type) {
    return make(fmt::format(R"j({{"name":"v","hostPath":{{"path":"{}/{}","type":"{}"}}}})j",
                            directory.path(), name, type));
  };
  std::ofstream(directory.path() + "/file") << "x";
  fs::create_directory(directory.path() + "/dir");
  EXPECT_TRUE(at("dir", "Directory").has_value());
  EXPECT_FALSE(at("file", "Directory").has_value());
  EXPECT_FALSE(at("none", "Directory").has_value());
  EXPECT_TRUE(at("file", "File").has_value());
  EXPECT_FALSE(at("dir", "File").has_value());
  EXPECT_TRUE(at("made/deep", "DirectoryOrCreate").has_value());
  EXPECT_TRUE(fs::is_directory(directory.path() + "/made/deep"));
  EXPECT_TRUE(at("made-file", "FileOrCreate").has_value());
  EXPECT_TRUE(fs::is_regular_file(directory.path() + "/made-file"));
  EXPECT_EQ(content(directory.path() + "/file"), "x");
  EXPECT_TRUE(at("file", "FileOrCreate").has_value());
  EXPECT_EQ(content(directory.path() + "/file"), "x") << "what exists is left alone";
  EXPECT_FALSE(at("file", "Socket").has_value());
  EXPECT_TRUE(at("any", "").has_value());
  EXPECT_TRUE(make(R"j({"name":"v","hostPath":{"path":"/dev/null","type":"CharDevice"}})j"));
  EXPECT_FALSE(make(R"j({"name":"v","hostPath":{"path":"/dev/null","type":"BlockDevice"}})j"));
}

TEST_F(Volumes, NoHostPathLeadsIntoTheHome) {
  const auto home = directory.path() + "/home";
  fs::create_directories(home);
  std::ofstream(home + "/muster.sock") << "x";
  fs::create_symlink(home, directory.path() + "/link");
  for (const char* path : {"/home", "/home/muster.sock", "/home/new", "/link/muster.sock",
                           "/other/../home/muster.sock"}) {
    const auto made = make(
        fmt::format(R"j({{"name":"v","hostPath":{{"path":"{}{}"}}}})j", directory.path(), path));
    ASSERT_FALSE(made) << path;
    EXPECT_EQ(made.error().message, fmt::format("hostPath {}{} lies in Muster's own directory {}, "
                                                "which no pod may see",
                                                directory.path(), path, home));
  }
  EXPECT_FALSE(fs::exists(home + "/new"));
  EXPECT_TRUE(make(
      fmt::format(R"j({{"name":"v","hostPath":{{"path":"{}"}}}})j", directory.path() + "/homely")));
}

TEST_F(Volumes, ConfigMapWithItemsAndModes) {
  put(ReferenceKind::ConfigMap, "c", R"j({"data":{"a":"1","b":"2"},"binaryData":{"z":"AAE="}})j");
  const auto all = make(R"j({"name":"v","configMap":{"name":"c","defaultMode":288}})j");
  ASSERT_TRUE(all.has_value()) << all.error().message;
  EXPECT_EQ(content(all->path + "/a"), "1");
  EXPECT_EQ(content(all->path + "/z"), std::string("\0\1", 2));
  EXPECT_EQ(mode(all->path + "/a"), 0440U);
  EXPECT_TRUE(all->read_only);

  const auto some = make(
      R"j({"name":"w","configMap":{"name":"c","items":[{"key":"b","path":"d/e","mode":256}]}})j");
  ASSERT_TRUE(some.has_value());
  EXPECT_EQ(content(some->path + "/d/e"), "2");
  EXPECT_EQ(mode(some->path + "/d/e"), 0400U);
  EXPECT_FALSE(fs::exists(some->path + "/a"));

  EXPECT_EQ(make(R"j({"name":"x","configMap":{"name":"none"}})j").error().code,
            ErrorCode::NotFound);
  EXPECT_TRUE(make(R"j({"name":"x","configMap":{"name":"none","optional":true}})j").has_value());
  EXPECT_FALSE(
      make(R"j({"name":"y","configMap":{"name":"c","items":[{"key":"no","path":"p"}]}})j"));
  EXPECT_FALSE(
      make(R"j({"name":"y","configMap":{"name":"c","items":[{"key":"a","path":"../../p"}]}})j"));
}

TEST_F(Volumes, AChangeIsSeenAllAtOnce) {
  put(ReferenceKind::ConfigMap, "c", R"j({"data":{"a":"1","b":"1"}})j");
  const auto volume = R"j({"name":"v","configMap":{"name":"c"}})j";
  const auto made = make(volume);
  ASSERT_TRUE(made.has_value());
  const auto before = fs::read_symlink(made->path + "/..data");
  ASSERT_TRUE(make(volume).has_value());
  EXPECT_EQ(fs::read_symlink(made->path + "/..data"), before) << "nothing changed";

  put(ReferenceKind::ConfigMap, "c", R"j({"data":{"a":"2","c":"2"}})j");
  ASSERT_TRUE(make(volume).has_value());
  EXPECT_NE(fs::read_symlink(made->path + "/..data"), before);
  EXPECT_EQ(fs::read_symlink(made->path + "/a"), "..data/a");
  EXPECT_EQ(content(made->path + "/a"), "2");
  EXPECT_EQ(content(made->path + "/c"), "2");
  EXPECT_FALSE(fs::exists(fs::symlink_status(made->path + "/b")));
  EXPECT_FALSE(fs::exists(made->path / before)) << "the old version is gone";
}

TEST_F(Volumes, SecretsLieInMemoryBehindAClosedDoor) {
  put(ReferenceKind::Secret, "s", R"j({"data":{"key":"c2VjcmV0"}})j");
  const auto made = make(R"j({"name":"v","secret":{"secretName":"s","defaultMode":256}})j");
  ASSERT_TRUE(made.has_value());
  EXPECT_EQ(content(made->path + "/key"), "secret");
  EXPECT_EQ(mode(made->path + "/key"), 0400U);
  EXPECT_TRUE(made->path.starts_with(directory.path() + "/memory"));
  EXPECT_EQ(mode(directory.path() + "/memory"), 0700U);
}

TEST_F(Volumes, ProjectedAsEveryPodHasIt) {
  put(ReferenceKind::ConfigMap, "kube-root-ca.crt", R"j({"data":{"ca.crt":"CA"}})j");
  const auto volume = R"j({"name":"api","projected":{"sources":[
      {"serviceAccountToken":{"path":"token"}},
      {"configMap":{"name":"kube-root-ca.crt","items":[{"key":"ca.crt","path":"ca.crt"}]}},
      {"downwardAPI":{"items":[{"path":"namespace","fieldRef":{"fieldPath":"metadata.namespace"}}]}}
      ]}})j";
  EXPECT_FALSE(make(volume).has_value()) << "no token yet";
  tokens[{"api", "token"}] = "T";
  const auto made = make(volume);
  ASSERT_TRUE(made.has_value()) << made.error().message;
  EXPECT_EQ(content(made->path + "/token"), "T");
  EXPECT_EQ(content(made->path + "/ca.crt"), "CA");
  EXPECT_EQ(content(made->path + "/namespace"), "ns");
}

TEST_F(Volumes, DownwardLabelsAreLines) {
  const auto made = make(R"j({"name":"v","downwardAPI":{"items":[{"path":"labels",
      "fieldRef":{"fieldPath":"metadata.labels"}}]}})j");
  ASSERT_TRUE(made.has_value());
  EXPECT_EQ(content(made->path + "/labels"), "a=\"1\\n\"\nb=\"2\"");
}

TEST_F(Volumes, EmptyDirs) {
  const auto plain = make(R"j({"name":"v","emptyDir":{}})j");
  ASSERT_TRUE(plain.has_value());
  EXPECT_TRUE(fs::is_directory(plain->path));
  EXPECT_FALSE(plain->read_only);
  std::ofstream(plain->path + "/kept") << "x";
  ASSERT_TRUE(make(R"j({"name":"v","emptyDir":{}})j").has_value());
  EXPECT_TRUE(fs::exists(plain->path + "/kept")) << "lives as long as the pod";
  const auto bounded = make(R"j({"name":"m","emptyDir":{"medium":"Memory","sizeLimit":"64Mi"}})j");
  ASSERT_TRUE(bounded.has_value());
  EXPECT_TRUE(bounded->tmpfs);
  EXPECT_EQ(bounded->tmpfs_bytes, std::uint64_t{64} << 20U);
  const auto open = make(R"j({"name":"o","emptyDir":{"medium":"Memory"}})j");
  ASSERT_TRUE(open.has_value());
  EXPECT_TRUE(open->path.starts_with(directory.path() + "/memory"));
}

TEST_F(Volumes, MountsResolveSubPaths) {
  const auto plain = make(R"j({"name":"v","emptyDir":{}})j");
  ASSERT_TRUE(plain.has_value());
  const std::map<std::string, VolumeSource> volumes{{"v", *plain}};
  const auto mounts = [&](std::string_view list) {
    auto container = parse(R"j({"name":"c"})j");
    container["volumeMounts"] = parse(list);
    return container_mounts(container, volumes, {{"RANK", "3"}});
  };
  auto made = mounts(R"j([{"name":"v","mountPath":"/a","readOnly":true},
      {"name":"v","mountPath":"/b","subPath":"x/y"},
      {"name":"v","mountPath":"/c","subPathExpr":"rank-$(RANK)"}])j");
  ASSERT_TRUE(made.has_value()) << made.error().message;
  EXPECT_TRUE((*made)[0].read_only);
  EXPECT_EQ((*made)[0].source, plain->path);
  EXPECT_EQ((*made)[0].below, "");
  EXPECT_EQ((*made)[1].source, plain->path);
  EXPECT_EQ((*made)[1].below, "x/y");
  EXPECT_EQ((*made)[2].below, "rank-3");
  EXPECT_TRUE(fs::is_directory(plain->path + "/x/y"));
  EXPECT_TRUE(fs::is_directory(plain->path + "/rank-3"));
  EXPECT_FALSE(mounts(R"j([{"name":"v","mountPath":"/a","subPath":"../x"}])j").has_value());
  EXPECT_FALSE(mounts(R"j([{"name":"none","mountPath":"/a"}])j").has_value());
  fs::create_directory_symlink("/etc", plain->path + "/out");
  EXPECT_FALSE(mounts(R"j([{"name":"v","mountPath":"/a","subPath":"out"}])j").has_value());
}

TEST_F(NodeTest, ARunningPodSeesNewContent) {
  start();
  cluster.put(api::config_maps(),
              parse(R"j({"metadata":{"name":"c","namespace":"default"},"data":{"k":"1"}})j"));
  const auto uid = create(
      PodBuilder("p")
          .container("main", "serve", R"j({"volumeMounts":[{"name":"v","mountPath":"/v"}]})j")
          .spec("volumes", R"j([{"name":"v","configMap":{"name":"c"}}])j"));
  loop.run_for(1s);
  const auto path = runtime.find(uid, "main", 0)->spec.mounts.at(0).source;
  EXPECT_EQ(content(path + "/k"), "1");
  cluster.put(api::config_maps(),
              parse(R"j({"metadata":{"name":"c","namespace":"default"},"data":{"k":"2"}})j"));
  loop.run_for(1s);
  EXPECT_EQ(content(path + "/k"), "2");
  cluster.request_deletion("default", "p", 0);
  loop.run_for(1s);
  EXPECT_FALSE(fs::exists(path)) << "volumes go with the pod";
}

TEST_F(NodeTest, DownwardVolumesFollowTheLabels) {
  start();
  const auto uid = create(
      PodBuilder("p")
          .label("a", "1")
          .container("main", "serve", R"j({"volumeMounts":[{"name":"v","mountPath":"/v"}]})j")
          .spec("volumes", R"j([{"name":"v","downwardAPI":{"items":[{"path":"labels",
              "fieldRef":{"fieldPath":"metadata.labels"}}]}}])j"));
  loop.run_for(1s);
  const auto path = runtime.find(uid, "main", 0)->spec.mounts.at(0).source + "/labels";
  EXPECT_EQ(content(path), "a=\"1\"");
  auto changed = *pod("p");
  changed["metadata"]["labels"]["a"] = "2";
  cluster.put(api::pods(), changed);
  loop.run_for(1s);
  EXPECT_EQ(content(path), "a=\"2\"");
}

TEST_F(NodeTest, TokensAreRenewedAtFourFifthsOfTheirLife) {
  start();
  const auto uid = create(
      PodBuilder("p")
          .container("main", "serve", R"j({"volumeMounts":[{"name":"v","mountPath":"/v"}]})j")
          .spec("volumes", R"j([{"name":"v","projected":{"sources":[
              {"serviceAccountToken":{"path":"token","expirationSeconds":3600}}]}}])j"));
  loop.run_for(1s);
  const auto path = runtime.find(uid, "main", 0)->spec.mounts.at(0).source + "/token";
  EXPECT_EQ(content(path), "token-default-p-1");
  loop.run_for(2800s);
  EXPECT_EQ(cluster.tokens, 1);
  loop.run_for(100s);
  EXPECT_EQ(content(path), "token-default-p-2");
}

}  // namespace
}  // namespace muster::node
