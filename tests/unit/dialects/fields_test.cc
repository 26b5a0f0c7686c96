#include "dialects/check/fields.h"

#include <array>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dialects/check/messages.h"
#include "support.h"

namespace muster::dialects::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr auto kFields = std::to_array<Field>({
    {.path = "spec", .type = Type::Object, .required = true},
    {.path = "spec.count", .type = Type::Int32, .minimum = 1},
    {.path = "spec.word", .type = Type::String, .allowed = "One|Two"},
    {.path = "spec.password", .type = Type::String, .secret = true},
    {.path = "spec.items", .type = Type::List},
    {.path = "spec.items[]", .type = Type::Open},
    {.path = "spec.items[].name", .type = Type::String, .required = true},
    {.path = "spec.port", .type = Type::NumberOrText, .minimum = 1, .maximum = 65535},
    {.path = "spec.pair", .type = Type::List, .maximum = 2},
    {.path = "spec.pair[]", .type = Type::Int32},
    {.path = "spec.labels", .type = Type::Map, .keys = Format::LabelKey},
    {.path = "spec.labels.*", .type = Type::String},
});

Findings check(std::string_view yaml) {
  Findings findings;
  FieldTable(kFields).check(parse(yaml), Path(), findings);
  return findings;
}

// "path rule" of each violation.
std::vector<std::string> lines(const Findings& findings) {
  std::vector<std::string> out;
  for (const auto& violation : findings.violations) {
    out.push_back(violation.path + " " + std::string(violation.rule.id));
  }
  return out;
}

TEST(Fields, AGoodValueGivesNoFindings) {
  const auto findings = check("spec: {count: 1, word: Two, items: [{name: a, more: 1}]}");
  EXPECT_THAT(lines(findings), IsEmpty());
  EXPECT_THAT(findings.unknown, IsEmpty());
}

TEST(Fields, NullIsAbsence) {
  EXPECT_THAT(lines(check("spec: {count: null, items: null, labels: {a: null}}")), IsEmpty());
  EXPECT_THAT(lines(check("spec: null")), ElementsAre("spec required"));
  EXPECT_THAT(lines(check("spec: {items: [{name: null}]}")),
              ElementsAre("spec.items[0].name required"));
}

TEST(Fields, EveryMistakeIsFound) {
  EXPECT_THAT(lines(check("spec: {count: 0, word: Three, items: [{name: a}, {}, 7]}")),
              ElementsAre("spec.count minimum", "spec.word one-of", "spec.items[1].name required",
                          "spec.items[2] type"));
}

TEST(Fields, NumbersThatNoInt32HoldsAreTooLarge) {
  EXPECT_THAT(lines(check("spec: {count: 2147483648}")), ElementsAre("spec.count maximum"));
}

TEST(Fields, ANumberMayStandInQuotesWhereTheTableSaysSo) {
  EXPECT_THAT(lines(check("spec: {port: '23456'}")), IsEmpty());
  EXPECT_THAT(lines(check("spec: {port: 23456}")), IsEmpty());
  EXPECT_THAT(lines(check("spec: {port: '65536'}")), ElementsAre("spec.port maximum"));
  EXPECT_THAT(lines(check("spec: {port: tcp}")), ElementsAre("spec.port type"));
}

TEST(Fields, AListThatIsTooLongIsNotLookedInto) {
  EXPECT_THAT(lines(check("spec: {pair: [1, 2]}")), IsEmpty());
  EXPECT_THAT(lines(check("spec: {pair: [1, 2, x]}")), ElementsAre("spec.pair maximum"));
}

TEST(Fields, ALaterRowReplacesAnEarlierOne) {
  FieldTable table(kFields);
  table.add("spec", std::array{Field{.path = "count", .type = Type::Int32, .minimum = 7}});
  Findings findings;
  table.check(parse("spec: {count: 6}"), Path(), findings);
  EXPECT_THAT(lines(findings), ElementsAre("spec.count minimum"));
}

TEST(Fields, KeysWithDotsStandInBrackets) {
  EXPECT_THAT(lines(check("spec: {labels: {example.org/a: 1, -b: x}}")),
              ElementsAre("spec.labels[example.org/a] type", "spec.labels.-b label-key"));
}

TEST(Fields, ASecretIsNeverRepeated) {
  const auto findings = check("spec: {password: 1234567}");
  ASSERT_EQ(findings.violations.size(), 1U);
  EXPECT_EQ(findings.violations[0].message, "must be a string, not the integer; put it in quotes");
}

TEST(Fields, UnknownMembersAreNotedOnlyWhereAllAreKnown) {
  const auto findings = check("{spec: {cuont: 1, items: [{name: a, other: b}]}, extra: 1}");
  EXPECT_THAT(findings.unknown,
              ElementsAre(plan::UnknownField{.path = "spec.cuont", .meant = "count"},
                          plan::UnknownField{.path = "extra"}));
}

TEST(Fields, SuggestionsAreNearOrNotMade) {
  EXPECT_EQ(nearest("worker", {"Scheduler", "PS", "Worker"}), "Worker");
  EXPECT_EQ(nearest("Schedular", {"Scheduler", "PS", "Worker"}), "Scheduler");
  EXPECT_EQ(nearest("Wroker", {"Scheduler", "PS", "Worker"}), "Worker");
  EXPECT_EQ(nearest("SP", {"Scheduler", "PS", "Worker"}), "PS");
  EXPECT_EQ(nearest("Chief", {"Scheduler", "PS", "Worker"}), "");
  EXPECT_EQ(nearest(std::string(100'000, 'x'), {"Worker"}), "");
}

TEST(Fields, ValuesInMessagesAreShortAndPrintable) {
  EXPECT_LE(in_quotes(std::string(10'000, 'x')).size(), 80U);
  EXPECT_EQ(in_quotes("\x1b[31m").find('\x1b'), std::string::npos);
  EXPECT_EQ(shown(json::Value(7)), "7");
  EXPECT_EQ(shown(json::Value(json::Object{{"a", 1}})), "object");
}

TEST(Registry, KnowsKindsByNameAndByResource) {
  const auto* found = registry().find("mindspore.gitee.com/v1", "MSJob");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(registry().find(found->identity().resource), found);
  EXPECT_NE(registry().find("kubeflow.org/v1", "MSJob"), found);
  EXPECT_EQ(registry().find("kubeflow.org/v2", "MSJob"), nullptr);
}

}  // namespace
}  // namespace muster::dialects::test
