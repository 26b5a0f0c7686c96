#include "api/selector.h"

#include <gtest/gtest.h>

#include "json/read.h"

namespace muster::api {
namespace {

const json::Value& pod() {
  static const json::Value object = json::read(R"({
    "metadata": {"name": "p", "namespace": "team", "generation": 7,
                 "labels": {"app": "bert", "role": "worker", "index": "3", "empty": "",
                            "muster.dev/role": "worker"}},
    "spec": {"nodeName": "node-1", "hostNetwork": true},
    "status": {"phase": "Running"}})")
                                        .value();
  return object;
}

TEST(LabelSelector, Matches) {
  const std::pair<const char*, bool> rows[] = {
      {"", true},
      {"  ", true},
      {"app=bert", true},
      {"app==bert", true},
      {"app=gpt", false},
      {"app!=gpt", true},
      {"app!=bert", false},
      {"none!=x", true},
      {"none=", false},
      {"empty=", true},
      {"empty", true},
      {"none=x", false},
      {"app", true},
      {"none", false},
      {"!none", true},
      {"! none", true},
      {"!app", false},
      {"role in (worker,scheduler)", true},
      {"role in ( worker , scheduler )", true},
      {"role in(scheduler)", false},
      {"role notin (scheduler)", true},
      {"role notin (worker)", false},
      {"none notin (worker)", true},
      {"empty in ()", true},
      {"index>2", true},
      {"index > 3", false},
      {"index<4", true},
      {"index<3", false},
      {"app>1", false},
      {"app<1", false},
      {"none>1", false},
      {"app=bert,role=worker", true},
      {"app=bert,role=scheduler", false},
      {" app = bert , role in (worker) , !none ", true},
      {"muster.dev/role=worker", true},
      {"in=x", false},
  };
  for (const auto& [text, matches] : rows) {
    const auto selector = LabelSelector::parse(text);
    ASSERT_TRUE(selector) << text << ": " << selector.error().message;
    EXPECT_EQ(selector->matches(pod()), matches) << text;
  }
}

TEST(LabelSelector, RefusesWhatItCannotRead) {
  for (const char* text :
       {"=",       "=x",       ",",        "a=b,",  ",a=b",  "a=b c",     "a in", "a in x",
        "a in (x", "a in (x,", "a ni (x)", "a>x",   "a<",    "!",         "!a=b", "a===b",
        "a=-",     "-a=b",     "a=b)",     "a/b/c", "a=b=c", "a in (x y)"}) {
    const auto selector = LabelSelector::parse(text);
    ASSERT_FALSE(selector) << text;
    EXPECT_EQ(selector.error().code, ErrorCode::BadRequest) << text;
  }
}

TEST(LabelSelector, AnObjectWithoutLabels) {
  const json::Value bare;
  EXPECT_TRUE(LabelSelector::parse("!app")->matches(bare));
  EXPECT_FALSE(LabelSelector::parse("app")->matches(bare));
}

TEST(LabelSelector, OfAService) {
  const auto of = [](const char* text) {
    return LabelSelector::of_labels(json::read(text).value());
  };
  EXPECT_TRUE(of(R"({"app":"bert","role":"worker"})").matches(pod()));
  EXPECT_FALSE(of(R"({"app":"bert","role":"scheduler"})").matches(pod()));
  EXPECT_TRUE(of("{}").empty());
  EXPECT_TRUE(of("null").empty());
}

TEST(FieldSelector, Matches) {
  const std::pair<const char*, bool> rows[] = {
      {"", true},
      {"metadata.name=p", true},
      {"metadata.name==p", true},
      {"metadata.name=q", false},
      {"metadata.name!=q", true},
      {"metadata.namespace=team,spec.nodeName=node-1", true},
      {"metadata.namespace=team,spec.nodeName!=node-1", false},
      {"spec.schedulerName=", true},
      {"spec.nodeName=", false},
      {"spec.nodeName!=", true},
      {"spec.hostNetwork=true", true},
      {"metadata.generation=7", true},
      {"status.phase!=Succeeded,status.phase!=Failed", true},
  };
  for (const auto& [text, matches] : rows) {
    const auto selector = FieldSelector::parse(text);
    ASSERT_TRUE(selector) << text;
    EXPECT_EQ(selector->matches(pod()), matches) << text;
  }
}

TEST(FieldSelector, UnescapesValues) {
  const auto selector = FieldSelector::parse(R"(a=x\,y\=z\\)");
  ASSERT_TRUE(selector);
  ASSERT_EQ(selector->terms().size(), 1U);
  EXPECT_EQ(selector->terms()[0].value, "x,y=z\\");
}

TEST(FieldSelector, RefusesWhatItCannotRead) {
  for (const char* text : {"a", "=b", "!=b", "a=b,c", R"(a=b\)", R"(a=b\c)", "a=b=c"}) {
    const auto selector = FieldSelector::parse(text);
    ASSERT_FALSE(selector) << text;
    EXPECT_EQ(selector.error().code, ErrorCode::BadRequest) << text;
  }
}

}  // namespace
}  // namespace muster::api
