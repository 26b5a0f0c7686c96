// Every mistake in tests/cases/*/bad is refused at the right field, by the right rule, with words
// that help. The first lines of each file say what is expected; its apiVersion and kind say by
// whom.
#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "base/strings.h"
#include "dialects/batch/rules.h"
#include "dialects/chainer/rules.h"
#include "dialects/check/checked_dialect.h"
#include "dialects/check/pod_template.h"
#include "dialects/check/scheduling.h"
#include "dialects/kubeflow/rules.h"
#include "dialects/mpi/rules.h"
#include "dialects/paddle/rules.h"
#include "support.h"

namespace muster::dialects::test {
namespace {

// Templates are the same for all kinds: their cases stand in one folder, as jobs of the first kind.
constexpr std::string_view kTemplates = "pod_template";

struct BadManifest {
  std::string file;
  std::string folder;
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
  const std::filesystem::path root = std::string(MUSTER_TEST_DATA) + "/cases";
  std::vector<BadManifest> out;
  for (const auto& folder : std::filesystem::directory_iterator(root)) {
    const std::string name = folder.path().filename();
    for (const auto& entry : std::filesystem::directory_iterator(folder.path() / "bad")) {
      const std::string file = "cases/" + name + "/bad/" + entry.path().filename().string();
      const std::string text = read_text(file);
      out.push_back({.file = file,
                     .folder = name,
                     .path = header(text, "path"),
                     .rule = header(text, "rule"),
                     .says = header(text, "says"),
                     .job = parse(text)});
    }
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

const CheckedDialect& checked(const json::Value& job) {
  return dynamic_cast<const CheckedDialect&>(dialect_of(job));
}

TEST(BadManifests, EachIsRefusedAtItsFieldByItsRule) {
  for (const auto& bad : bad_manifests()) {
    SCOPED_TRACE(bad.file);
    const auto violations = checked(bad.job).examine(bad.job).violations;
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
    const auto& dialect = dialect_of(bad.job);
    const auto plan = dialect.compile(bad.job);
    ASSERT_FALSE(plan.has_value());
    EXPECT_EQ(plan.error().code, ErrorCode::Invalid);
    EXPECT_EQ(plan.error().causes, dialect.validate(bad.job));
    EXPECT_NE(plan.error().message.find(bad.path), std::string::npos) << plan.error().message;
  }
}

TEST(BadManifests, AreDifferentMistakesAndManyOfEachKind) {
  std::map<std::pair<std::string, std::string>, std::string> seen;
  std::map<const plan::Dialect*, int> of_kind;
  for (const auto& bad : bad_manifests()) {
    const auto kind = bad.job["apiVersion"].as_string();
    const auto [first, fresh] = seen.try_emplace({kind + " " + bad.path, bad.rule}, bad.file);
    EXPECT_TRUE(fresh) << bad.file << " repeats " << first->second;
    if (bad.folder != kTemplates) ++of_kind[&dialect_of(bad.job)];
  }
  EXPECT_GE(seen.size(), 110U);
  for (const auto& dialect : registry().all()) {
    EXPECT_GE(of_kind[dialect.get()], 20) << dialect->identity().resource.qualified();
  }
}

TEST(BadManifests, CoverEveryRule) {
  std::set<std::string> covered;
  for (const auto& bad : bad_manifests()) covered.insert(bad.rule);
  std::set<std::string> known;
  for (const auto& rule : rules::kOfFields) known.emplace(rule.id);
  for (const auto& rule : rules::kOfTemplates) known.emplace(rule.id);
  for (const auto& rule : rules::kOfJobs) known.emplace(rule.id);
  for (const auto& rule : rules::kOfScheduling) known.emplace(rule.id);
  for (const auto& rule : kubeflow::rules::kOfFamily) known.emplace(rule.id);
  for (const auto& rule : paddle::rules::kOfPaddle) known.emplace(rule.id);
  for (const auto& rule : batch::rules::kOfFamily) known.emplace(rule.id);
  for (const auto& rule : chainer::rules::kOfChainer) known.emplace(rule.id);
  for (const auto& rule : mpi::rules::kOfMpi) known.emplace(rule.id);
  for (const auto& rule : known) EXPECT_TRUE(covered.contains(rule)) << rule;
}

}  // namespace
}  // namespace muster::dialects::test
