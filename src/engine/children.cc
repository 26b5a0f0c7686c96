#include "engine/children.h"

#include <algorithm>

#include <fmt/format.h>

#include "api/object.h"
#include "base/check.h"

namespace muster::engine {
namespace {

json::Value owner_reference(const plan::JobRef& job) {
  const api::OwnerReference owner{.api_version = job.resource.api_version(),
                                  .kind = job.resource.kind,
                                  .name = job.name,
                                  .uid = job.uid,
                                  .controller = true,
                                  .block_owner_deletion = true};
  return json::Array{owner.to_json()};
}

std::optional<std::string> resolve(const plan::Late& late, const Observed& observed) {
  if (const auto* service = std::get_if<plan::ServiceIp>(&late)) {
    const auto found = std::ranges::find_if(observed.objects, [&](const ObjectView& object) {
      return object.resource == api::services() && object.name == service->service;
    });
    if (found == observed.objects.end() || found->cluster_ip.empty()) return std::nullopt;
    return found->cluster_ip;
  }
  const auto& rank = std::get<plan::PodIp>(late);
  const auto found = std::ranges::find_if(observed.pods, [&](const PodView& pod) {
    return pod.role == rank.role && pod.index == rank.index && !pod.deleting;
  });
  if (found == observed.pods.end() || found->ip.empty()) return std::nullopt;
  return found->ip;
}

// The place a path names; the dialect made both from the same template, so it exists.
json::Value& at(json::Value& root, const plan::JsonPath& path) {
  json::Value* value = &root;
  for (const auto& step : path) {
    if (const auto* member = std::get_if<std::string>(&step)) {
      value = &(*value)[*member];
    } else {
      json::Array& array = value->array();
      CHECK(std::get<std::size_t>(step) < array.size());
      value = &array[std::get<std::size_t>(step)];
    }
  }
  return *value;
}

void label_rank(json::Value& labels, const plan::Plan& plan, const plan::Role& role,
                const CreatePod& pod) {
  const std::string number = std::to_string(pod.index);
  for (const std::string& key : role.index_labels) labels[key] = number;
  labels[plan::labels::kJobUid] = plan.job.uid;
  labels[plan::labels::kRole] = role.name;
  labels[plan::labels::kIndex] = number;
  labels[plan::labels::kAttempt] = std::to_string(pod.attempt);
  labels[plan::labels::kEpoch] = std::to_string(pod.epoch);
  if (plan.gang) {
    labels[plan::labels::kGang] = fmt::format("{}-{}", plan.job.uid, pod.epoch);
    labels[plan::labels::kGangSize] = std::to_string(plan.gang->minimum);
  }
}

}  // namespace

std::optional<CreatePod> plan_pod(const plan::Plan& plan, const plan::Role& role, int index,
                                  const Observed& observed, const plan::Ledger& ledger) {
  CreatePod pod{.name = plan::pod_name(plan, role, index),
                .role = role.name,
                .index = index,
                .epoch = ledger.epoch};
  const auto attempts = ledger.attempts.find(plan::rank_key(role.name, index));
  if (attempts != ledger.attempts.end()) pod.attempt = attempts->second;
  for (const plan::LateValue& late : role.late) {
    auto value = resolve(late.value, observed);
    if (!value) return std::nullopt;
    pod.late.push_back(std::move(*value));
  }
  return pod;
}

json::Value make_pod(const plan::Plan& plan, const CreatePod& pod) {
  const plan::Role* role = plan.role(pod.role);
  CHECK(role != nullptr && role->late.size() == pod.late.size());
  json::Value body = json::Object{{"apiVersion", "v1"}, {"kind", "Pod"}};
  body["metadata"] = role->pod["metadata"];
  body["spec"] = role->pod["spec"];
  json::Value& metadata = body["metadata"];
  metadata["name"] = pod.name;
  metadata["namespace"] = plan.job.ns;
  metadata["ownerReferences"] = owner_reference(plan.job);
  label_rank(metadata["labels"], plan, *role, pod);
  for (std::size_t i = 0; i < pod.late.size(); ++i) at(body, role->late[i].path) = pod.late[i];
  return body;
}

json::Value make_object(const plan::Plan& plan, const plan::Object& object) {
  json::Value body = object.body;
  json::Value& metadata = body["metadata"];
  metadata["name"] = object.name;
  metadata["namespace"] = plan.job.ns;
  metadata["ownerReferences"] = owner_reference(plan.job);
  metadata["labels"][plan::labels::kJobUid] = plan.job.uid;
  return body;
}

const ObjectView* find_object(const Observed& observed, const plan::Object& object) {
  const auto found = std::ranges::find_if(observed.objects, [&](const ObjectView& view) {
    return view.resource == object.resource && view.name == object.name;
  });
  return found == observed.objects.end() ? nullptr : &*found;
}

}  // namespace muster::engine
