#include "node/pod/container/environment.h"

#include "node/network/service_environment.h"
#include "node/pod/container/container_spec.h"
#include "node/pod/container/expand.h"
#include "node/pod/container/images.h"
#include "unit/node/fixture.h"

namespace muster::node {
namespace {

TEST(Expand, FollowsKubernetes) {
  const std::map<std::string, std::string> variables{{"A", "one"}, {"B", "$(A)"}, {"E", ""}};
  struct Row {
    const char* text;
    const char* expected;
  };
  for (const auto& row :
       {Row{"$(A)", "one"}, Row{"x$(A)y$(A)", "xoneyone"}, Row{"$$(A)", "$(A)"},
        Row{"$$$(A)", "$one"}, Row{"$(NONE)", "$(NONE)"}, Row{"$(B)", "$(A)"}, Row{"$(A", "$(A"},
        Row{"$A", "$A"}, Row{"$", "$"}, Row{"a$", "a$"}, Row{"$$", "$"}, Row{"$()", "$()"},
        Row{"[$(E)]", "[]"}, Row{"", ""}, Row{"$($(A))", "$($(A))"}, Row{"$ (A)", "$ (A)"}}) {
    EXPECT_EQ(expand(row.text, variables), row.expected) << row.text;
  }
}

class Environment : public ::testing::Test {
 protected:
  json::Value pod = parse(R"j({"metadata":{"name":"p","namespace":"ns","uid":"u",
      "labels":{"app":"x"},"annotations":{"a/b":"y"}},
      "spec":{"serviceAccountName":"sa","containers":[{"name":"c","image":"i","resources":
      {"limits":{"memory":"1Gi"},"requests":{"cpu":"250m"}}}]}})j");
  Place place{.node_name = "n1",
              .host_ip = "192.0.2.1",
              .pod_ip = "10.0.0.5",
              .allocatable_cpu_milli = 4000,
              .allocatable_memory_bytes = std::int64_t{8} << 30U};
  std::map<std::string, std::string> services{{"DB_SERVICE_HOST", "10.96.0.9"}};
  std::map<Reference, api::ObjectPtr> objects;
  Lookup lookup = [this](const Reference& reference) -> api::ObjectPtr {
    const auto found = objects.find(reference);
    return found == objects.end() ? nullptr : found->second;
  };

  Result<std::map<std::string, std::string>> with(std::string_view fields) {
    auto container = parse(fields);
    container["name"] = "c";
    return pod_environment({.pod = pod,
                            .container = container,
                            .place = place,
                            .services = services,
                            .lookup = lookup});
  }
  void config_map(const char* name, const char* data) {
    objects[{ReferenceKind::ConfigMap, name}] =
        std::make_shared<const json::Value>(json::Object{{"data", parse(data)}});
  }
  void secret(const char* name, const char* data) {
    objects[{ReferenceKind::Secret, name}] =
        std::make_shared<const json::Value>(json::Object{{"data", parse(data)}});
  }
};

TEST_F(Environment, LiteralsReferToWhatCameBefore) {
  const auto env = with(R"j({"env":[{"name":"A","value":"1"},{"name":"B","value":"$(A)2"},
      {"name":"C","value":"$(D)"},{"name":"D","value":"4"},{"name":"A","value":"$(B)3"},
      {"name":"H","value":"$(DB_SERVICE_HOST)"}]})j");
  ASSERT_TRUE(env.has_value());
  EXPECT_EQ(env->at("A"), "123") << "the last one wins";
  EXPECT_EQ(env->at("B"), "12");
  EXPECT_EQ(env->at("C"), "$(D)") << "D comes later";
  EXPECT_EQ(env->at("H"), "10.96.0.9");
}

TEST_F(Environment, FieldsOfThePod) {
  const std::vector<std::pair<const char*, const char*>> rows{{"metadata.name", "p"},
                                                              {"metadata.namespace", "ns"},
                                                              {"metadata.uid", "u"},
                                                              {"metadata.labels['app']", "x"},
                                                              {"metadata.annotations['a/b']", "y"},
                                                              {"metadata.labels['none']", ""},
                                                              {"spec.nodeName", "n1"},
                                                              {"spec.serviceAccountName", "sa"},
                                                              {"status.podIP", "10.0.0.5"},
                                                              {"status.podIPs", "10.0.0.5"},
                                                              {"status.hostIP", "192.0.2.1"}};
  for (const auto& [path, expected] : rows) {
    const auto value = field_value(pod, path, place);
    ASSERT_TRUE(value.has_value()) << path;
    EXPECT_EQ(*value, expected) << path;
  }
  EXPECT_FALSE(field_value(pod, "status.phase", place).has_value());
}

TEST_F(Environment, ResourcesRoundUpToTheDivisor) {
  struct Row {
    const char* reference;
    const char* expected;
  };
  for (const auto& row : {Row{R"j({"resource":"limits.memory"})j", "1073741824"},
                          Row{R"j({"resource":"limits.memory","divisor":"1Mi"})j", "1024"},
                          Row{R"j({"resource":"requests.cpu"})j", "1"},
                          Row{R"j({"resource":"requests.cpu","divisor":"1m"})j", "250"},
                          Row{R"j({"resource":"limits.cpu"})j", "4"},
                          Row{R"j({"resource":"requests.memory","divisor":"1Gi"})j", "1"},
                          Row{R"j({"resource":"limits.cpu","divisor":"0"})j", "4"}}) {
    const auto value = resource_field_value(pod, parse(row.reference), "c", place);
    ASSERT_TRUE(value.has_value()) << row.reference;
    EXPECT_EQ(*value, row.expected) << row.reference;
  }
}

TEST_F(Environment, ConfigMapsAndSecrets) {
  config_map("c", R"j({"k":"v","l":"w"})j");
  secret("s", R"j({"p":"cGFzcw=="})j");
  const auto env = with(R"j({"envFrom":[{"prefix":"X_","configMapRef":{"name":"c"}},
      {"secretRef":{"name":"s"}},{"configMapRef":{"name":"none","optional":true}}],
      "env":[{"name":"K","valueFrom":{"configMapKeyRef":{"name":"c","key":"k"}}},
      {"name":"P","valueFrom":{"secretKeyRef":{"name":"s","key":"p"}}},
      {"name":"Q","valueFrom":{"secretKeyRef":{"name":"s","key":"q","optional":true}}},
      {"name":"R","value":"$(X_l)"}]})j");
  ASSERT_TRUE(env.has_value()) << env.error().message;
  EXPECT_EQ(env->at("X_k"), "v");
  EXPECT_EQ(env->at("p"), "pass");
  EXPECT_EQ(env->at("K"), "v");
  EXPECT_EQ(env->at("P"), "pass");
  EXPECT_FALSE(env->contains("Q"));
  EXPECT_EQ(env->at("R"), "w");
}

TEST_F(Environment, WhatIsMissingIsNamed) {
  config_map("c", R"j({"k":"v"})j");
  auto missing = with(R"j({"envFrom":[{"secretRef":{"name":"s"}}]})j");
  ASSERT_FALSE(missing.has_value());
  EXPECT_EQ(missing.error().message, "secret \"s\" not found");
  missing =
      with(R"j({"env":[{"name":"A","valueFrom":{"configMapKeyRef":{"name":"c","key":"z"}}}]})j");
  ASSERT_FALSE(missing.has_value());
  EXPECT_EQ(missing.error().message, "couldn't find key z in ConfigMap ns/c");
}

TEST_F(Environment, CommandLinesTakeTheirPartsInOrder) {
  NodeOptions options;
  options.environment = {{"PATH", "/node"}, {"LEAK", "no"}};
  options.images = {{.pattern = "train:*",
                     .entrypoint = {"python"},
                     .cmd = {"train.py"},
                     .env = {{"PATH", "/image"}, {"I", "1"}},
                     .workdir = "/w"}};
  pod["metadata"]["annotations"]["muster.dev/environment"] =
      R"j({"PATH":"/home/bin","HOME":"/h"})j";
  const auto line = [&](std::string_view fields) {
    auto container = parse(fields);
    container["name"] = "c";
    return command_line({.environment = {.pod = pod,
                                         .container = container,
                                         .place = place,
                                         .services = services,
                                         .lookup = lookup},
                         .options = options,
                         .hostname = "host"});
  };
  using Words = std::vector<std::string>;
  auto row = line(R"j({"image":"train:1","env":[{"name":"A","value":"x"}]})j");
  ASSERT_TRUE(row.has_value());
  EXPECT_EQ(row->words, (Words{"python", "train.py"}));
  EXPECT_EQ(row->environment.at("PATH"), "/image");
  EXPECT_EQ(row->environment.at("HOME"), "/h");
  EXPECT_EQ(row->environment.at("HOSTNAME"), "host");
  EXPECT_FALSE(row->environment.contains("LEAK")) << "the submitter's stands in for the node's";
  EXPECT_EQ(row->working_directory, "/w");

  EXPECT_EQ(line(R"j({"image":"train:1","args":["a"]})j")->words, (Words{"python", "a"}));
  EXPECT_EQ(line(R"j({"image":"train:1","command":["sh"]})j")->words, (Words{"sh"}));
  EXPECT_EQ(line(R"j({"image":"x","command":["sh"],"args":["$(A)"],
      "env":[{"name":"A","value":"x"}]})j")
                ->words,
            (Words{"sh", "x"}));
  EXPECT_FALSE(line(R"j({"image":"x"})j").has_value());
  EXPECT_FALSE(line(R"j({"image":"x","args":["a"]})j").has_value()) << "args alone name no program";
}

TEST_F(Environment, WithoutAnImageTheSubmittersDirectoryIsWhereItStarts) {
  NodeOptions options;
  options.images = {{.pattern = "row", .workdir = ""}, {.pattern = "placed", .workdir = "/w"}};
  pod["metadata"]["annotations"]["muster.dev/environment"] =
      R"j({"PATH":"/bin","PWD":"/home/me"})j";
  const auto directory = [&](std::string_view image, std::string_view own = "") {
    json::Value container = json::Object{
        {"name", "c"}, {"image", image}, {"command", json::Array{"sh"}}, {"workingDir", own}};
    const auto line = command_line({.environment = {.pod = pod,
                                                    .container = container,
                                                    .place = place,
                                                    .services = services,
                                                    .lookup = lookup},
                                    .options = options,
                                    .hostname = "host"});
    EXPECT_TRUE(line.has_value());
    EXPECT_FALSE(line->environment.contains("PWD")) << "the shell knows where it is";
    EXPECT_EQ(line->submitter_directory, "/home/me");
    return line->working_directory;
  };
  EXPECT_EQ(directory("none"), "/home/me");
  EXPECT_EQ(directory("none", "/own"), "/own");
  EXPECT_EQ(directory("row"), "/");
  EXPECT_EQ(directory("placed"), "/w");
  EXPECT_EQ(submitter_directory(pod), "/home/me");
  EXPECT_EQ(submitter_directory(json::Object{}), "");
}

TEST_F(Environment, ADirectoryUnderTmpIsShownToBeWrittenOver) {
  std::string home = "/nowhere";
  const auto mounts = [&](const std::string& directory, std::vector<ImageRow> images = {}) {
    pod["metadata"]["annotations"]["muster.dev/environment"] =
        json::write(json::Object{{"PWD", directory}, {"PATH", home}});
    pod["spec"]["containers"].array()[0]["command"] = json::Array{"true"};
    pod["spec"]["containers"].array()[0]["image"] = "x";
    NodeOptions options;
    options.home = home;
    options.images = std::move(images);
    const auto spec = container_spec(ContainerWork{.pod = std::make_shared<const json::Value>(pod),
                                                   .container = "c",
                                                   .place = place,
                                                   .options = options});
    EXPECT_TRUE(spec.has_value());
    std::vector<std::string> out;
    for (const auto& mount : spec->mounts) {
      out.push_back(mount.source + (mount.copy_on_write ? " copy-on-write" : ""));
    }
    return out;
  };
  using Lines = std::vector<std::string>;
  const TemporaryDirectory here;
  EXPECT_EQ(mounts(here.path()), Lines{here.path() + " copy-on-write"});
  EXPECT_EQ(mounts(here.path() + "/gone"), Lines{});
  EXPECT_EQ(mounts("/usr"), Lines{}) << "the root shows it";
  home = here.path();
  EXPECT_EQ(mounts(here.path()), Lines{}) << "nobody sees the home";
  EXPECT_EQ(mounts("/tmp/../" + here.path()), Lines{});
  home = "/nowhere";
  EXPECT_EQ(
      mounts(here.path(), {{.pattern = "x", .root = ImageRow::Root::Directory, .directory = "/r"}}),
      Lines{})
      << "an image that is all there is";
}

TEST(ServiceEnvironment, HasTheUsualVariables) {
  const auto service = [](const char* text) {
    return std::make_shared<const json::Value>(parse(text));
  };
  const std::vector<api::ObjectPtr> services{
      service(R"j({"metadata":{"name":"my-db","namespace":"ns"},"spec":{"clusterIP":"10.96.0.9",
          "ports":[{"name":"sql","port":5432},{"name":"dns","port":53,"protocol":"UDP"}]}})j"),
      service(R"j({"metadata":{"name":"head","namespace":"ns"},"spec":{"clusterIP":"None",
          "ports":[{"port":1}]}})j"),
      service(R"j({"metadata":{"name":"kubernetes","namespace":"default"},
          "spec":{"clusterIP":"10.96.0.1","ports":[{"name":"https","port":443}]}})j")};
  const auto env = service_environment(services, "ns", true);
  EXPECT_EQ(env.at("MY_DB_SERVICE_HOST"), "10.96.0.9");
  EXPECT_EQ(env.at("MY_DB_SERVICE_PORT"), "5432");
  EXPECT_EQ(env.at("MY_DB_SERVICE_PORT_DNS"), "53");
  EXPECT_EQ(env.at("MY_DB_PORT"), "tcp://10.96.0.9:5432");
  EXPECT_EQ(env.at("MY_DB_PORT_53_UDP"), "udp://10.96.0.9:53");
  EXPECT_EQ(env.at("MY_DB_PORT_53_UDP_ADDR"), "10.96.0.9");
  EXPECT_EQ(env.at("KUBERNETES_SERVICE_HOST"), "10.96.0.1");
  EXPECT_FALSE(env.contains("HEAD_SERVICE_HOST"));
  const auto without = service_environment(services, "ns", false);
  EXPECT_FALSE(without.contains("MY_DB_SERVICE_HOST"));
  EXPECT_TRUE(without.contains("KUBERNETES_SERVICE_HOST"));
}

TEST(Images, PatternsMatchTheWholeName) {
  const std::vector<ImageRow> rows{{.pattern = "a/*:1.*"}, {.pattern = "b"}, {.pattern = "*x*y"}};
  EXPECT_EQ(find_image(rows, "a/train:1.2"), &rows[0]);
  EXPECT_EQ(find_image(rows, "a/train:2.2"), nullptr);
  EXPECT_EQ(find_image(rows, "b"), &rows[1]);
  EXPECT_EQ(find_image(rows, "bb"), nullptr);
  EXPECT_EQ(find_image(rows, "1x2xy"), &rows[2]);
  EXPECT_EQ(find_image(rows, "xyz"), nullptr);
}

TEST(Images, NodesKnowTheAgentsByThemselves) {
  for (const auto* image : {"muster-agent", "muster-agent:0.1.0", "muster.dev/muster-agent:0.1.0",
                            "registry.local:5000/a/b/muster-agent@sha256:00",
                            "registry.local:5000/muster-agent:1@sha256:00"}) {
    const auto* row = find_image({}, image);
    ASSERT_NE(row, nullptr) << image;
    EXPECT_EQ(row->root, ImageRow::Root::Host);
    EXPECT_EQ(words_to_run(parse(R"j({"name":"c","args":["install","/muster/share"]})j"), row),
              (std::vector<std::string>{"/muster/bin/muster-agent", "install", "/muster/share"}));
  }
  for (const auto* image : {"my-muster-agent", "muster-agent/train", "muster-agent-old:1", ""})
    EXPECT_EQ(find_image({}, image), nullptr) << image;
  const std::vector<ImageRow> own{{.pattern = "*/muster-agent:*"}};
  EXPECT_EQ(find_image(own, "muster.dev/muster-agent:0.1.0"), own.data());
}

}  // namespace
}  // namespace muster::node
