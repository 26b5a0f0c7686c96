#include "cli/fields/explain.h"

#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/verbs/verbs.h"
#include "fields_fixture.h"
#include "verb_fixture.h"

namespace muster::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class ExplainTest : public VerbTest {
 protected:
  Outcome explained(const std::string& field) {
    CapturedOutput output;
    const Context context{.loop = loop(),
                          .pool = pool_,
                          .rng = rng_,
                          .registry = all_kinds(),
                          .environment = {},
                          .log = Logger::to_descriptor(STDERR_FILENO, Severity::Warning),
                          .output = output,
                          .home = home()};
    const int code = explain(context, {.field = field});
    return {.code = code, .out = output.out, .err = output.err};
  }

 private:
  rt::Pool pool_{1};
  SystemRng rng_;
};

TEST_F(ExplainTest, AFieldWithItsTypeAndSentence) {
  EXPECT_EQ(explained("msjobs.mindspore.gitee.com.spec.runPolicy.cleanPodPolicy").out,
            "KIND:     MSJob\n"
            "VERSION:  mindspore.gitee.com/v1\n"
            "FIELD:    cleanPodPolicy <string>\n"
            "ENUM:     All, Running, None\n"
            "\n"
            "DESCRIPTION:\n"
            "  Which pods are deleted when the job has ended: All, Running (those not\n"
            "  finished) or None. Default Running.\n");
}

TEST_F(ExplainTest, TheMembersOfAnObject) {
  const auto page = explained("pods.spec.containers.ports");
  EXPECT_EQ(page.code, 0);
  EXPECT_EQ(page.out,
            "KIND:     Pod\n"
            "VERSION:  v1\n"
            "FIELD:    ports <[]ContainerPort>\n"
            "\n"
            "DESCRIPTION:\n"
            "  Ports that it listens on.\n"
            "\n"
            "FIELDS:\n"
            "  containerPort <integer>\n"
            "    Its number.\n"
            "\n"
            "  hostIP <string>\n"
            "    The address of the node on which it is offered.\n"
            "\n"
            "  hostPort <integer>\n"
            "    The port of the node that leads there.\n"
            "\n"
            "  name <string>\n"
            "    Its name, for services and probes.\n"
            "\n"
            "  protocol <string>\n"
            "    TCP, UDP or SCTP.\n");
}

TEST_F(ExplainTest, ARoleMayBeNamedOrLeftOut) {
  const auto wanted = explained("paddlejob.spec.worker.replicas").out;
  EXPECT_THAT(wanted, HasSubstr("FIELD:    replicas <integer>"));
  const auto named = explained("msjobs.mindspore.gitee.com.spec.msReplicaSpecs.Worker.replicas");
  EXPECT_THAT(named.out, HasSubstr("Number of pods of this role"));
  EXPECT_EQ(named.out, explained("msjobs.mindspore.gitee.com.spec.msReplicaSpecs.replicas").out);
  EXPECT_THAT(explained("msjobs.mindspore.gitee.com.spec.msReplicaSpecs.Worker.template.spec").out,
              HasSubstr("  containers <[]Container>\n"));
}

TEST_F(ExplainTest, NearMissesAreToldApart) {
  auto page = explained("pods.spec.contaners");
  EXPECT_EQ(page.code, 1);
  EXPECT_EQ(page.err, "error: Pod.spec has no field contaners, did you mean containers?\n");
  page = explained("pods.spec.hostNetwork.x");
  EXPECT_EQ(page.err,
            "error: Pod.spec.hostNetwork has no field x; it has no fields that are known\n");
  EXPECT_THAT(explained("msjob.spec").err, HasSubstr("names 2 kinds; say which"));
  EXPECT_EQ(explained("msjob.spec").code, 2);
  EXPECT_THAT(explained("jobs.spec").err, HasSubstr("is every kind of job; say which"));
  EXPECT_EQ(explained("nodes.spec").err, "error: the fields of Node are not known here\n");
  EXPECT_THAT(explained("nothing.at.all").err, HasSubstr("no resource \"nothing\""));
}

TEST_F(ExplainTest, EveryFieldOfEveryKindHasAType) {
  std::set<std::string> seen;  // Kubernetes' own types are the same everywhere
  const std::function<void(const std::string&, const json::Value&)> walk =
      [&](const std::string& path, const json::Value& node) {
        const auto page = explained(path);
        ASSERT_EQ(page.code, 0) << page.err;
        EXPECT_THAT(page.out, Not(HasSubstr("<>"))) << path;
        const std::string& type = node["$ref"].as_string();
        if (!type.empty() && !seen.insert(type).second) return;
        for (const auto& [name, member] : resolve(node)["properties"].as_object()) {
          if (name != "status") walk(path + "." + name, member);
        }
      };
  for (const auto& dialect : all_kinds().all()) {
    walk(dialect->identity().resource.qualified(),
         schema_for(dialect->identity().resource, dialect.get()));
  }
}

}  // namespace
}  // namespace muster::cli
