#include "cli/manifests/for_run.h"

#include <sys/stat.h>

#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/manifests/lost_files.h"
#include "cli/manifests/manifest_files.h"
#include "cli/manifests/recorded.h"
#include "fields_fixture.h"
#include "verb_fixture.h"

namespace muster::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct Asked {
  std::vector<std::string> files;
  Validation validation = Validation::Strict;
  std::vector<std::string> set = {};
  std::vector<std::string> env = {};
  std::vector<std::string> mounts = {};
};

class ForRunTest : public VerbTest {
 protected:
  std::string file(const std::string& name, std::string_view text) {
    const auto path = home() + "/" + name;
    std::ofstream(path) << text;
    return path;
  }
  Result<std::vector<Manifest>> loaded(Asked asked) {
    Context context{.loop = loop(),
                    .pool = pool_,
                    .rng = rng_,
                    .registry = all_kinds(),
                    .environment = {{"HERE", "x"}},
                    .log = Logger::to_descriptor(STDERR_FILENO, Severity::Warning),
                    .output = output_,
                    .home = home(),
                    .kubeconfig = kubeconfig_};
    return manifests_for_run(context, asked.files,
                             {.validation = asked.validation,
                              .set = asked.set,
                              .env = asked.env,
                              .mounts = asked.mounts});
  }
  // Of an error, as the user sees it but for the place of the files.
  std::string error(Asked asked) {
    const auto manifests = loaded(std::move(asked));
    if (manifests) return "accepted";
    std::string text = manifests.error().message;
    for (auto at = text.find(home()); at != std::string::npos; at = text.find(home())) {
      text.erase(at, home().size() + 1);
    }
    return text;
  }

  CapturedOutput output_;
  std::optional<std::string> kubeconfig_;

 private:
  rt::Pool pool_{1};
  SystemRng rng_;
};

constexpr std::string_view kTypo = R"(# a comment
---
apiVersion: mindspore.gitee.com/v1
kind: MSJob
metadata: {name: bert}
spec:
  msReplicaSpecs:
    Worker:
      replcas: 4
      template: {spec: {containers: [{name: mindspore, image: a}]}}
)";

TEST_F(ForRunTest, SaysWhatAFileIsThatIsNoManifest) {
  EXPECT_EQ(error({.files = {file("list.yaml", "- a\n- b\n")}}),
            "list.yaml:1: a Kubernetes object is needed, this is an array");
  EXPECT_EQ(error({.files = {file("word.yaml", "word\n")}}),
            "word.yaml:1: a Kubernetes object is needed, this is a string");
  EXPECT_EQ(error({.files = {file("empty.yaml", "# nothing\n")}}), "empty.yaml: no document in it");
  EXPECT_EQ(error({.files = {file("case.yaml", "apiVersion: v1\nkind: pod\n")}}),
            "case.yaml:1: no kind pod in v1; did you mean Pod?");
  EXPECT_THAT(error({.files = {file("version.yaml", "apiVersion: v9\nkind: Pod\n")}}),
              HasSubstr("version.yaml:1: no kind Pod in v9; known job kinds: "));
}

TEST_F(ForRunTest, ATypoIsRefusedWithItsPlaceAndWhatWasMeant) {
  const auto path = file("job.yaml", kTypo);
  EXPECT_EQ(error({.files = {path}}),
            "job.yaml:9: unknown field spec.msReplicaSpecs.Worker.replcas, did you mean replicas? "
            "(--validate=warn runs it all the same)");
}

TEST_F(ForRunTest, AWarningOrNothingWhereThatIsAskedFor) {
  const auto path = file("job.yaml", kTypo);
  EXPECT_TRUE(loaded({.files = {path}, .validation = Validation::Ignore}));
  EXPECT_EQ(output_.err, "");
  EXPECT_TRUE(loaded({.files = {path}, .validation = Validation::Warn}));
  EXPECT_EQ(output_.err, "warning: " + path +
                             ":9: unknown field spec.msReplicaSpecs.Worker.replcas, did you mean "
                             "replicas?\n");
}

TEST_F(ForRunTest, AMisspeltFieldThatIsMissedIsToldWithWhatMissesIt) {
  const auto path = file("job.yaml", R"(apiVersion: mindspore.gitee.com/v1
kind: MSJob
metadata: {name: bert}
spec:
  msReplicaSpecs:
    Worker:
      tempalte: {spec: {containers: [{name: mindspore, image: a}]}}
)");
  const auto manifests = loaded({.files = {path}});
  ASSERT_FALSE(manifests);
  std::vector<std::string> fields;
  for (const auto& cause : manifests.error().causes) fields.push_back(cause.field);
  EXPECT_THAT(fields,
              ElementsAre(path + ":7", "spec.msReplicaSpecs.Worker.template.spec.containers"));
  EXPECT_THAT(manifests.error().causes[0].message, HasSubstr("did you mean template?"));
}

TEST_F(ForRunTest, PodsAndTheSecondDocumentAreLookedAtToo) {
  const auto path = file("two.yaml",
                         "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}\n---\n"
                         "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n  containers:\n"
                         "  - name: c\n    imag: x\n");
  EXPECT_THAT(error({.files = {path}}),
              HasSubstr("two.yaml:9: unknown field spec.containers[0].imag, did you mean image?"));
}

TEST_F(ForRunTest, DirectoriesStandForTheirManifestsByName) {
  const auto directory = home() + "/all";
  ::mkdir(directory.c_str(), 0755);
  for (const auto* name : {"all/b.yml", "all/a.json", "all/c.yaml", "all/notes.txt"}) {
    file(name, "{apiVersion: v1, kind: ConfigMap, metadata: {name: x}}");
  }
  EXPECT_THAT(manifest_files({directory, "-", "other.yaml"}).value(),
              ElementsAre(directory + "/a.json", directory + "/b.yml", directory + "/c.yaml", "-",
                          "other.yaml"));
  EXPECT_THAT(manifest_files({directory}, {directory + "/../all/b.yml", "nowhere"}).value(),
              ElementsAre(directory + "/a.json", directory + "/c.yaml"))
      << "the rows of images.yaml often lie beside the jobs";
  EXPECT_EQ(loaded({.files = {directory}})->size(), 3U);
  const auto many = home() + "/many";
  ::mkdir(many.c_str(), 0755);
  for (const char letter : std::string("mzaybxcwdvetfsgrhqipjok"))
    file(std::string("many/") + letter + ".yaml", "");
  EXPECT_TRUE(std::ranges::is_sorted(manifest_files({many}).value()));
  ::mkdir((home() + "/none").c_str(), 0755);
  EXPECT_EQ(error({.files = {home() + "/none"}}),
            "none: there is no *.yaml, *.yml or *.json in this directory");
  EXPECT_THAT(error({.files = {home() + "/gone.yaml"}}), HasSubstr("cannot read gone.yaml"));
}

TEST_F(ForRunTest, TheCommandLineChangesWhatIsChecked) {
  const auto path = file("job.yaml", kJob);
  const auto manifests =
      loaded({.files = {path}, .set = {"spec.msReplicaSpecs.Worker.replicas=8"}, .env = {"HERE"}});
  ASSERT_TRUE(manifests) << manifests.error().message;
  const auto& worker = manifests->front().object["spec"]["msReplicaSpecs"]["Worker"];
  EXPECT_EQ(worker["replicas"], json::Value(8));
  EXPECT_EQ(worker["template"]["spec"]["containers"][0]["env"][0]["value"], json::Value("x"));
  EXPECT_THAT(error({.files = {path}, .set = {"spec.msReplicaSpecs.Worker.replicas=many"}}),
              HasSubstr("spec.msReplicaSpecs.Worker.replicas: must be a whole number"));
}

TEST_F(ForRunTest, DirectoriesOfThisMachineAreNotForClusters) {
  const auto path = file("job.yaml", kJob);
  EXPECT_EQ(error({.files = {path}, .mounts = {home()}}), "accepted");
  kubeconfig_ = "somewhere";
  EXPECT_THAT(error({.files = {path}, .mounts = {home()}}),
              HasSubstr("let the manifest use a claim"));
}

TEST(Validation, HasKubectlsWords) {
  EXPECT_EQ(parse_validation("true").value(), Validation::Strict);
  EXPECT_EQ(parse_validation("warn").value(), Validation::Warn);
  EXPECT_EQ(parse_validation("false").value(), Validation::Ignore);
  EXPECT_FALSE(parse_validation("maybe"));
}

TEST(Recorded, WhatFindsProgramsModulesAndTheDirectory) {
  EXPECT_EQ(recorded_environment({{"PATH", "/bin"},
                                  {"PYTHONPATH", "src"},
                                  {"LANG", "C"},
                                  {"TZ", "UTC"},
                                  {"CONDA_PREFIX", "/c"},
                                  {"SECRET", "x"},
                                  {"PWD", "/elsewhere"}},
                                 "/home/me"),
            R"({"CONDA_PREFIX":"/c","LANG":"C","PATH":"/bin","PYTHONPATH":"src","TZ":"UTC",)"
            R"("PWD":"/home/me"})");
  EXPECT_EQ(recorded_environment({}, ""), "{}");
}

TEST(LostFiles, AreCountedOnceForEachPod) {
  LostFiles lost;
  EXPECT_FALSE(lost.sentence());
  const auto pod = [](const std::string& uid, int count) {
    return parse("{metadata: {uid: " + uid +
                 ", annotations: {muster.dev/environment: '{\"PWD\":\"/home/me\"}'}}, status: "
                 "{muster: {lostFiles: " +
                 std::to_string(count) + "}}}");
  };
  lost.see(parse("{metadata: {uid: z}, status: {}}"));
  EXPECT_FALSE(lost.sentence());
  lost.see(pod("a", 1));
  EXPECT_EQ(lost.sentence(),
            "1 file written below /home/me was not kept; to keep such files: --mount /home/me");
  lost.see(pod("a", 3));
  lost.see(pod("a", 3));
  lost.see(pod("b", 4));
  EXPECT_EQ(lost.sentence(),
            "7 files written below /home/me were not kept; to keep such files: --mount /home/me");
  EXPECT_EQ(lost.sentence("/home/me"),
            "7 files written below this directory were not kept; to keep such files: --mount .");
  lost.see(pod("b", 10'000));
  EXPECT_THAT(*lost.sentence(), HasSubstr("at least 10003 files"));
}

}  // namespace
}  // namespace muster::cli
