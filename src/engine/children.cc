#include "engine/children.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "api/object.h"
#include "base/check.h"
#include "base/strings.h"
#include "json/write.h"

namespace muster::engine {
namespace {

class KnownAddresses final : public plan::Addresses {
 public:
  [[nodiscard]] std::optional<std::string> of(const plan::ServiceIp& service) const override {
    return find(services, service.service);
  }
  [[nodiscard]] std::optional<std::string> of(const plan::PodIp& pod) const override {
    return find(pods, std::pair(pod.role, pod.index));
  }

  std::map<std::string, std::string> services;
  std::map<std::pair<std::string, int>, std::string> pods;

 private:
  template <class Map, class Key>
  static std::optional<std::string> find(const Map& map, const Key& key) {
    const auto found = map.find(key);
    return found == map.end() ? std::nullopt : std::optional(found->second);
  }
};

// Looks up what the parts of values ask for.
struct Collector {
  const Children& children;
  const Census& census;
  KnownAddresses& known;

  void operator()(const std::string&) const {}
  void operator()(const plan::Ordinal&) const {}
  void operator()(const plan::ServiceIp& part) const {
    const ObjectView* service = children.object(api::services(), part.service);
    if (service != nullptr && !service->cluster_ip.empty())
      known.services[part.service] = service->cluster_ip;
  }
  void operator()(const plan::PodIp& part) const {
    const Rank* rank = census.rank(part.role, part.index);
    // The address of a pod that is about to be replaced goes with it.
    if (rank == nullptr || rank->pod == nullptr || rank->is(RankState::Absent)) return;
    if (rank->failed_anew() || rank->pod->ip.empty()) return;
    known.pods[{part.role, part.index}] = rank->pod->ip;
  }

  void collect(const std::vector<plan::Placed>& values) const {
    for (const plan::Placed& placed : values) {
      for (const plan::Part& part : placed.value) std::visit(*this, part);
    }
  }
};

json::Value owner_reference(const plan::JobRef& job) {
  const api::OwnerReference owner{.api_version = job.resource.api_version(),
                                  .kind = job.resource.kind,
                                  .name = job.name,
                                  .uid = job.uid,
                                  .controller = true,
                                  .block_owner_deletion = true};
  return json::Array{owner.to_json()};
}

void set_metadata(json::Value& metadata, const plan::JobRef& job, const std::string& name) {
  metadata["name"] = name;
  metadata["namespace"] = job.ns;
  metadata["ownerReferences"] = owner_reference(job);
  metadata["labels"][plan::labels::kJobUid] = job.uid;
}

void fill_in(json::Value& body, const std::vector<plan::Placed>& values, int index,
             const plan::Addresses& addresses) {
  for (const plan::Placed& placed : values) {
    auto text = plan::resolve(placed.value, index, addresses);
    CHECK(text.has_value());  // it did when the action was decided on
    plan::place(body, placed.path, std::move(*text));
  }
}

void label_rank(json::Value& labels, const plan::Plan& plan, const CreatePod& pod) {
  labels[plan::labels::kRole] = pod.role->name;
  labels[plan::labels::kIndex] = std::to_string(pod.index);
  labels[plan::labels::kAttempt] = std::to_string(pod.attempt);
  labels[plan::labels::kEpoch] = std::to_string(pod.epoch);
  if (plan.gang) {
    labels[plan::labels::kGang] = fmt::format("{}-{}", plan.job.uid, pod.epoch);
    labels[plan::labels::kGangSize] = std::to_string(plan.gang->minimum);
    if (!plan.gang->queue.empty()) {
      labels[plan::labels::kQueue] = plan.gang->queue;
      labels[plan::labels::kPriority] = std::to_string(plan.gang->priority);
    }
  }
}

}  // namespace

Children::Children(const std::vector<ObjectView>& objects, std::set<std::string> secrets)
    : secrets_(std::move(secrets)) {
  for (const ObjectView& object : objects) {
    auto known = std::ranges::find(objects_, object.resource, &OfResource::resource);
    if (known == objects_.end()) {
      known = objects_.insert(objects_.end(), {.resource = object.resource, .by_name = {}});
      known->by_name.reserve(objects.size());
    }
    known->by_name.emplace(object.name, &object);
  }
}

const ObjectView* Children::object(const api::Resource& resource, std::string_view name) const {
  const auto known = std::ranges::find(objects_, resource, &OfResource::resource);
  if (known == objects_.end()) return nullptr;
  const auto found = known->by_name.find(name);
  return found == known->by_name.end() ? nullptr : found->second;
}

bool Children::has_secret(const plan::ObjectId& id) const {
  return secrets_.contains(id.name) || object(id.resource, id.name) != nullptr;
}

std::shared_ptr<const plan::Addresses> known_addresses(const plan::Plan& plan,
                                                       const Children& children,
                                                       const Census& census) {
  auto known = std::make_shared<KnownAddresses>();
  const Collector collector{children, census, *known};
  for (const plan::Role& role : plan.roles) {
    collector.collect(role.values);
    collector.collect(role.values_resumed);
  }
  for (const plan::Object& object : plan.objects) collector.collect(object.values);
  return known;
}

bool resolves(const std::vector<plan::Placed>& values, const plan::Addresses& addresses) {
  return std::ranges::all_of(values, [&](const plan::Placed& placed) {
    return plan::resolve(placed.value, 0, addresses).has_value();
  });
}

int copies(const plan::Plan& plan, const plan::Object& object) {
  if (object.each_rank_of.empty()) return 1;
  const plan::Role* role = plan.role(object.each_rank_of);
  return role == nullptr ? 0 : role->replicas;
}

std::string object_name(const plan::Plan& plan, const plan::Object& object, int index,
                        const plan::Ledger& ledger) {
  const plan::Role* role = plan.role(object.each_rank_of);
  if (role == nullptr) return object.id.name;
  const auto tries = ledger.roles.find(role->name);
  return role->pod_name.name(index,
                             tries == ledger.roles.end() ? 0 : tries->second.attempts.at(index));
}

json::Value make_pod(const plan::Plan& plan, const CreatePod& pod) {
  json::Value body = json::Object{{"apiVersion", "v1"}, {"kind", "Pod"}};
  const json::Value& pattern = pod.role->pod_for(pod.resumed);
  body["metadata"] = pattern["metadata"];
  body["spec"] = pattern["spec"];
  set_metadata(body["metadata"], plan.job, pod.name);
  label_rank(body["metadata"]["labels"], plan, pod);
  fill_in(body, pod.role->values_for(pod.resumed), pod.index, *pod.addresses);
  return body;
}

std::optional<std::string> content_of(const plan::Object& object, int index,
                                      const plan::Addresses& addresses) {
  if (!resolves(object.values, addresses)) return std::nullopt;
  json::Value body = object.body;
  fill_in(body, object.values, index, addresses);
  return fmt::format("{:016x}", stable_hash(json::write_canonical(body)));
}

json::Value make_object(const plan::Plan& plan, const CreateObject& action) {
  json::Value body = action.object->body;
  if (action.object->on_change == plan::OnChange::Replace) {
    body["metadata"]["annotations"][plan::kContentAnnotation] =
        *content_of(*action.object, action.index, *action.addresses);
  }
  set_metadata(body["metadata"], plan.job, action.name);
  fill_in(body, action.object->values, action.index, *action.addresses);
  return body;
}

}  // namespace muster::engine
