#include "cli/jobs/dry_run.h"

#include <fstream>

#include "bare_context.h"
#include "cli/verbs/verbs.h"
#include "fields_fixture.h"
#include "json/read.h"
#include "temporary_home.h"
#include "verb_fixture.h"

namespace muster::cli {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// `run --dry-run` with the real kinds; nobody is asked, so there is no server.
class DryRun : public ::testing::Test {
 protected:
  Outcome plan(std::string_view text, const std::string& format) {
    const std::string path = home_.path + "/job.yaml";
    std::ofstream(path) << text;
    CapturedOutput output;
    Context context{.loop = loop_,
                    .pool = pool_,
                    .rng = rng_,
                    .registry = all_kinds(),
                    .environment = {},
                    .log = {},
                    .output = output,
                    .home = home_.path};
    const int code = loop_.run(run(context, {.files = {path}, .dry_run = true, .output = format}));
    return {.code = code, .out = output.out, .err = output.err};
  }
  TemporaryHome home_;
  rt::RealLoop loop_;
  rt::Pool pool_{1};
  SystemRng rng_;
};

TEST_F(DryRun, ShowsEveryObjectThatTheJobWouldHave) {
  const Outcome seen = plan(kJob, "json");
  EXPECT_EQ(seen.code, exit_code::kOk) << seen.err;
  const auto list = json::read(seen.out);
  ASSERT_TRUE(list) << seen.out;
  EXPECT_EQ((*list)["kind"].as_string(), "List");
  std::vector<std::string> names;
  for (const json::Value& item : (*list)["items"].as_array())
    names.push_back(api::kind_of(item) + " " + api::name_of(item));
  EXPECT_THAT(names, ElementsAre("Service bert-scheduler-0", "Pod bert-scheduler-0",
                                 "Pod bert-worker-0", "Pod bert-worker-1"));
}

TEST_F(DryRun, AsDocumentsWithGapsForWhatOnlyTheClusterKnows) {
  const Outcome seen = plan(kJob, "yaml");
  EXPECT_EQ(seen.code, exit_code::kOk) << seen.err;
  EXPECT_THAT(seen.out, HasSubstr("<ClusterIP>"));
  const auto documents = yaml::read(seen.out);
  ASSERT_TRUE(documents) << documents.error().message;
  EXPECT_EQ(documents->size(), 4U);
}

TEST_F(DryRun, WhatIsNoJobIsShownAsItIs) {
  const Outcome seen =
      plan("{apiVersion: v1, kind: ConfigMap, metadata: {name: settings}, data: {a: b}}", "yaml");
  EXPECT_EQ(seen.code, exit_code::kOk) << seen.err;
  EXPECT_THAT(seen.out, AllOf(HasSubstr("kind: ConfigMap\n"), HasSubstr("name: settings\n"),
                              HasSubstr("a: b\n")));
}

TEST_F(DryRun, AJobThatIsWrongIsRefusedAsItWouldBe) {
  const Outcome seen = plan(
      "apiVersion: mindspore.gitee.com/v1\nkind: MSJob\n"
      "metadata: {name: bert}\nspec: {msReplicaSpecs: {}}\n",
      "yaml");
  EXPECT_EQ(seen.code, exit_code::kOurs);
  EXPECT_THAT(seen.err, HasSubstr("msReplicaSpecs"));
  EXPECT_EQ(seen.out, "");
}

}  // namespace
}  // namespace muster::cli
