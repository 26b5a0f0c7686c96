#include "scheduler/node_affinity.h"

#include <gtest/gtest.h>

#include "json/read.h"

namespace muster::scheduler {
namespace {

bool fits(const std::string& terms) {
  const auto required = json::read(R"({"nodeSelectorTerms":)" + terms + "}");
  EXPECT_TRUE(required.has_value()) << terms;
  return matches_affinity(*required, "n1", {{"zone", "a"}, {"cores", "8"}});
}

TEST(NodeAffinity, OneTermMustHoldWhole) {
  EXPECT_TRUE(matches_affinity(json::Value(), "n1", {})) << "nothing is required";
  const auto label = [](const char* key, const char* op, const char* values) {
    return std::string(R"({"key":")") + key + R"(","operator":")" + op + R"(","values":)" + values +
           "}";
  };
  const auto expressions = [](const std::string& all) {
    return R"({"matchExpressions":[)" + all + "]}";
  };
  const auto in = label("zone", "In", R"(["a","b"])");
  const auto not_in = label("zone", "NotIn", R"(["a"])");
  EXPECT_TRUE(fits("[" + expressions(in) + "]"));
  EXPECT_FALSE(fits("[" + expressions(not_in) + "]"));
  EXPECT_FALSE(fits("[" + expressions(in + "," + not_in) + "]")) << "all of a term";
  EXPECT_TRUE(fits("[" + expressions(not_in) + "," + expressions(in) + "]")) << "one of the terms";
  EXPECT_TRUE(fits("[" + expressions(label("cores", "Gt", R"(["4"])")) + "]"));
  EXPECT_FALSE(fits("[" + expressions(label("cores", "Lt", R"(["8"])")) + "]"));
  EXPECT_FALSE(fits("[" + expressions(label("zone", "Gt", R"(["4"])")) + "]")) << "no number";
  EXPECT_TRUE(fits("[" + expressions(label("gone", "DoesNotExist", "[]")) + "]"));
  EXPECT_TRUE(fits("[" + expressions(label("gone", "NotIn", R"(["a"])")) + "]"));
  EXPECT_FALSE(fits("[" + expressions(label("gone", "Exists", "[]")) + "]"));
  EXPECT_TRUE(
      fits(R"([{"matchFields":[{"key":"metadata.name","operator":"In","values":["n1"]}]}])"));
  EXPECT_FALSE(
      fits(R"([{"matchFields":[{"key":"metadata.name","operator":"In","values":["n2"]}]}])"));
  EXPECT_FALSE(fits("[{}]")) << "a term that says nothing";
  EXPECT_FALSE(fits("[]"));
}

}  // namespace
}  // namespace muster::scheduler
