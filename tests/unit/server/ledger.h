#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "server/store/change.h"
#include "server/types.h"

namespace muster::server {

inline ObjectPtr object_of(std::string_view key, std::string_view text) {
  json::Value value;
  value["apiVersion"] = "v1";
  value["kind"] = "Thing";
  value["metadata"]["name"] = key;
  value["text"] = text;
  return std::make_shared<const json::Value>(std::move(value));
}

// What was asked of a store, in order.
class Ledger {
 public:
  Change next(const std::string& key, std::string_view text, bool deleted = false) {
    const Version before = newest_.contains(key) ? newest_[key] : 0;
    Change change{.version = changes_.size() + 1,
                  .key = key,
                  .type = deleted       ? ChangeType::Deleted
                          : before == 0 ? ChangeType::Created
                                        : ChangeType::Updated,
                  .object = object_of(key, text),
                  .previous = before,
                  .time = Time(std::chrono::seconds(1'790'000'000)),
                  .confidential = key.starts_with("secrets/")};
    newest_[key] = deleted ? 0 : change.version;
    changes_.push_back(change);
    return change;
  }
  void end_batch() { ends_.insert(version()); }
  [[nodiscard]] Version version() const { return changes_.size(); }
  [[nodiscard]] bool is_end(Version version) const { return ends_.contains(version); }
  [[nodiscard]] const Change& at(Version version) const { return changes_[version - 1]; }
  [[nodiscard]] std::map<std::string, Version> objects_at(Version version) const {
    std::map<std::string, Version> out;
    for (Version each = 1; each <= version; ++each) {
      const Change& change = at(each);
      if (change.type == ChangeType::Deleted)
        out.erase(change.key);
      else
        out[change.key] = each;
    }
    return out;
  }
  // A confidential object was replaced or deleted by then.
  [[nodiscard]] bool is_forgotten(Version which, Version by) const {
    const Change& change = at(which);
    if (!change.confidential) return false;
    for (Version each = which + 1; each <= by; ++each)
      if (at(each).previous == which) return true;
    return false;
  }

 private:
  std::vector<Change> changes_;
  std::map<std::string, Version> newest_;
  std::set<Version> ends_ = {0};
};

inline std::string wrong_objects(const Contents& contents, const Ledger& ledger) {
  auto expected = ledger.objects_at(contents.version);
  for (const Change& object : contents.objects) {
    const auto found = expected.find(object.key);
    if (found == expected.end()) return fmt::format("{} should be gone", object.key);
    if (found->second != object.version)
      return fmt::format("{} is at {}, not at {}", object.key, object.version, found->second);
    if (*object.object != *ledger.at(object.version).object)
      return fmt::format("{} is not what it was at {}", object.key, object.version);
    expected.erase(found);
  }
  if (!expected.empty()) return fmt::format("{} is lost", expected.begin()->first);
  return {};
}

// A watcher that was anywhere after the floor is told everything since; before it, 410.
inline std::string wrong_history(const Contents& contents, const Ledger& ledger) {
  Version at = contents.log_floor;
  if (at > contents.version) return "the log begins after its end";
  for (const Change& change : contents.log) {
    if (change.version <= at) return fmt::format("the log goes back from {}", at);
    for (Version skipped = at + 1; skipped < change.version; ++skipped)
      if (!ledger.is_forgotten(skipped, contents.version))
        return fmt::format("{} is missing in the log", skipped);
    at = change.version;
    if (at > contents.version) return fmt::format("the log knows {}, too new", at);
    const Change& expected = ledger.at(at);
    if (change.key != expected.key || change.type != expected.type)
      return fmt::format("{} is another change in the log", at);
    const bool bare =
        change.confidential || (expected.confidential && expected.type == ChangeType::Deleted);
    if (bare ? (*change.object)["text"].is_string() : *change.object != *expected.object)
      return fmt::format("{} has another content in the log", at);
  }
  for (Version skipped = at + 1; skipped <= contents.version; ++skipped)
    if (!ledger.is_forgotten(skipped, contents.version))
      return fmt::format("{} is missing at the end of the log", skipped);
  return {};
}

}  // namespace muster::server
