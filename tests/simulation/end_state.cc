#include "end_state.h"

#include <algorithm>
#include <array>
#include <set>

#include <fmt/format.h>

#include "api/object.h"
#include "base/check.h"
#include "json/write.h"
#include "plan/plan.h"

namespace muster::simulation {
namespace {

constexpr std::array<std::string_view, 21> kIncidental = {"uid",
                                                          "resourceVersion",
                                                          "creationTimestamp",
                                                          "lastTransitionTime",
                                                          "lastUpdateTime",
                                                          "lastProbeTime",
                                                          "startTime",
                                                          "completionTime",
                                                          "startedAt",
                                                          "finishedAt",
                                                          "podIP",
                                                          "podIPs",
                                                          "muster.dev/gang",
                                                          "muster.dev/job-uid",
                                                          "batch.kubernetes.io/controller-uid",
                                                          "controller-uid",
                                                          "notBefore",
                                                          "pauseUntil",
                                                          "at",
                                                          "deletionTimestamp",
                                                          "managedFields"};

json::Value stripped(const json::Value& value) {
  if (value.is_array()) {
    json::Array out;
    for (const json::Value& each : value.as_array()) out.push_back(stripped(each));
    return out;
  }
  if (!value.is_object()) return value;
  json::Object out;
  for (const auto& [key, member] : value.as_object()) {
    if (std::ranges::find(kIncidental, key) == kIncidental.end()) out.set(key, stripped(member));
  }
  return out;
}

// Addresses are given in the order of asking, so they depend on what was asked for in between.
std::string without_addresses(std::string text) {
  constexpr std::string_view kRange = "10.96.0.";
  for (std::size_t at = text.find(kRange); at != std::string::npos; at = text.find(kRange, at)) {
    std::size_t end = at + kRange.size();
    while (end < text.size() && text[end] >= '0' && text[end] <= '9') ++end;
    text.replace(at, end - at, "(address)");
  }
  return text;
}

// The uid of the job is in the names of its secrets.
std::string without_uid(std::string name, const std::string& uid) {
  const std::size_t at = uid.empty() ? std::string::npos : name.find(uid);
  return at == std::string::npos ? name : name.replace(at, uid.size(), "(uid)");
}

// A pod is its try, by whatever name it goes: that may come from the uid of its job.
std::string known_as(const json::Value& object) {
  const std::string& role = api::label_of(object, plan::labels::kRole);
  if (role.empty())
    return without_uid(api::name_of(object), api::label_of(object, plan::labels::kJobUid));
  return fmt::format("{} {}/{}#{}", api::owners_of(object).front().name, role,
                     api::label_of(object, plan::labels::kIndex),
                     api::label_of(object, plan::labels::kAttempt));
}

std::string essence_of(const json::Value& object) {
  const json::Value& status = object["status"];
  std::string text = fmt::format(
      "{} {} phase={} {} attempts={} restarts={}", api::kind_of(object), known_as(object),
      status["phase"].as_string(), status["muster"]["phase"].as_string(),
      json::write(status["muster"]["attempts"]), status["muster"]["restartCount"].as_int());
  for (const char* type : {"Finished", "Succeeded", "Complete", "Failed"}) {
    const json::Value& condition = api::condition_of(object, type);
    if (!condition.is_null()) {
      text += fmt::format(" {}={} {}", type, condition["status"].as_string(),
                          condition["reason"].as_string());
    }
  }
  return text + "\n";
}

}  // namespace

Task<EndState> read_end_state(cluster::Cluster& cluster,
                              std::vector<const plan::Identity*> identities) {
  EndState state;
  std::set<api::Resource> jobs;
  std::set<api::Resource> all = {api::pods(), api::services(), api::config_maps(), api::secrets()};
  for (const plan::Identity* identity : identities) {
    jobs.insert(identity->resource);
    all.insert(identity->resource);
    all.insert(identity->optional_children.begin(), identity->optional_children.end());
  }
  for (const api::Resource& resource : all) {
    const auto page = co_await cluster.list(resource, {});
    CHECK(page.has_value());
    std::set<std::string> essences;  // in an order that does not depend on names
    for (const auto& object : page->items) {
      // A list of addresses says what pods say, and those come as they come; keys are drawn.
      if (resource == api::config_maps() || resource == api::secrets()) {
        state.all += known_as(*object) + "\n";
        state.essence += essence_of(*object);
        continue;
      }
      state.all += without_addresses(json::write_canonical(stripped(*object))) + "\n";
      essences.insert(essence_of(*object));
      if (resource == api::pods()) state.pods.push_back(object);
      if (!jobs.contains(resource)) continue;
      state.jobs.push_back(object);
      state.phases[api::name_of(*object)] = (*object)["status"]["muster"]["phase"].as_string();
    }
    for (const std::string& essence : essences) state.essence += essence;
  }
  co_return state;
}

}  // namespace muster::simulation
