#include "cli/verbs/verbs.h"
#include "verb_fixture.h"

namespace muster::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class DescribeOther : public VerbTest {};

TEST_F(DescribeOther, ASecretWithoutItsValues) {
  create(
      api::secrets(),
      json::Object{{"apiVersion", "v1"},
                   {"kind", "Secret"},
                   {"metadata",
                    json::Object{{"name", "key"},
                                 {"namespace", "default"},
                                 {"annotations",
                                  json::Object{{"kubectl.kubernetes.io/last-applied-configuration",
                                                "{\"data\":{\"api\":\"aHVudGVyMg==\"}}"}}}}},
                   {"data", json::Object{{"api", "aHVudGVyMg=="}}}});
  const Outcome seen =
      outcome([](Context& context) { return describe(context, {.words = {"secrets/key"}}); });
  EXPECT_EQ(seen.code, 0) << seen.err;
  EXPECT_THAT(seen.out, HasSubstr("  api: 7 bytes\n"));
  EXPECT_THAT(seen.out, Not(HasSubstr("aHVudGVyMg")));
}

}  // namespace
}  // namespace muster::cli
