// Every mistake in tests/cases/msjob/bad is refused at the right field, by the right rule, with
// words that help. The first lines of each file say what is expected.
#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "base/strings.h"
#include "dialects/mindspore_fields.h"
#include "dialects/mindspore_validate.h"
#include "support.h"

namespace muster::dialects::test {
namespace {

struct BadManifest {
  std::string file;
  std::string path;
  std::string rule;
  std::string says;
  json::Value job;
};

std::string header(const std::string& text, const std::string& key) {
  for (const auto line : split(text, '\n')) {
    const std::string prefix = "# " + key + ": ";
    if (line.starts_with(prefix)) return std::string(line.substr(prefix.size()));
  }
  ADD_FAILURE() << "no " << key;
  return {};
}

std::vector<BadManifest> bad_manifests() {
  const std::string folder = "cases/msjob/bad";
  std::vector<BadManifest> out;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::string(MUSTER_TEST_DATA) + "/" + folder)) {
    const std::string file = entry.path().filename();
    const std::string text = read_text(folder + "/" + file);
    out.push_back({.file = file,
                   .path = header(text, "path"),
                   .rule = header(text, "rule"),
                   .says = header(text, "says"),
                   .job = parse(text)});
  }
  std::ranges::sort(out, {}, &BadManifest::file);
  return out;
}

std::string list_of(const std::vector<Violation>& violations) {
  std::string out;
  for (const auto& violation : violations) {
    out +=
        violation.path + " (" + std::string(violation.rule.id) + "): " + violation.message + "\n";
  }
  return out;
}

TEST(BadManifests, EachIsRefusedAtItsFieldByItsRule) {
  const mindspore::Validator validator;
  for (const auto& bad : bad_manifests()) {
    SCOPED_TRACE(bad.file);
    const auto violations = validator.check(bad.job).violations;
    const auto found = std::ranges::find_if(violations, [&](const Violation& violation) {
      return violation.path == bad.path && violation.rule.id == bad.rule;
    });
    ASSERT_NE(found, violations.end()) << bad.path << " (" << bad.rule << ") is not among:\n"
                                       << list_of(violations);
    EXPECT_NE(found->message.find(bad.says), std::string::npos) << found->message;
    // One mistake gives one complaint: a second one would send the reader to the wrong place.
    EXPECT_EQ(violations.size(), 1U) << list_of(violations);
  }
}

TEST(BadManifests, NoneCompiles) {
  for (const auto& bad : bad_manifests()) {
    SCOPED_TRACE(bad.file);
    const auto plan = dialect().compile(bad.job);
    ASSERT_FALSE(plan.has_value());
    EXPECT_EQ(plan.error().code, ErrorCode::Invalid);
    EXPECT_EQ(plan.error().causes, dialect().validate(bad.job));
    EXPECT_NE(plan.error().message.find(bad.path), std::string::npos) << plan.error().message;
  }
}

TEST(BadManifests, AreAtLeastSixtyDifferentMistakes) {
  std::map<std::pair<std::string, std::string>, std::string> seen;
  for (const auto& bad : bad_manifests()) {
    const auto [first, fresh] = seen.try_emplace({bad.path, bad.rule}, bad.file);
    EXPECT_TRUE(fresh) << bad.file << " repeats " << first->second;
  }
  EXPECT_GE(seen.size(), 60U);
}

TEST(BadManifests, CoverEveryRule) {
  std::set<std::string> covered;
  for (const auto& bad : bad_manifests()) covered.insert(bad.rule);
  std::set<std::string> rules;
  for (const auto& rule : mindspore::all_rules()) rules.emplace(rule.id);
  EXPECT_EQ(covered, rules);
}

}  // namespace
}  // namespace muster::dialects::test
