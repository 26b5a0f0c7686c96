#include "controller/children.h"

#include <algorithm>

#include "plan/plan.h"

namespace muster::controller {

Children::Children(rt::Loop& loop, cluster::Cluster& cluster, std::string ns, Rng& rng, Logger log,
                   Changed changed)
    : loop_(loop),
      cluster_(cluster),
      ns_(std::move(ns)),
      rng_(rng),
      log_(std::move(log)),
      changed_(std::move(changed)),
      pods_(&engine::PodView::from, changed_, &engine::PodView::has_last_words) {}

Task<Result<void>> Children::follow(Wanted wanted, rt::TaskScope& scope) {
  optional_.insert(wanted.optional.begin(), wanted.optional.end());
  std::vector<api::Resource> resources = std::move(wanted.resources);
  resources.push_back(api::pods());
  std::ranges::move(wanted.optional, std::back_inserter(resources));
  // All of them start before the first is waited for.
  std::vector<cluster::Reflector*> started;
  for (const auto& resource : resources) started.push_back(&reflector(resource, scope));
  for (auto* one : started) {
    while (!one->synced().is_set() && !is_dispensable(*one)) CO_TRY(co_await one->news().wait());
  }
  co_return Result<void>{};
}

bool Children::is_dispensable(const cluster::Reflector& reflector) const {
  return optional_.contains(reflector.resource()) && reflector.trouble() &&
         reflector.trouble()->code == ErrorCode::NotFound;
}

std::optional<Error> Children::trouble() const {
  for (const auto& reflector : reflectors_) {
    if (reflector->trouble() && !is_dispensable(*reflector)) return reflector->trouble();
  }
  return std::nullopt;
}

ObjectCache& Children::objects(const api::Resource& resource) {
  const auto found = objects_.find(resource);
  CHECK(found != objects_.end());  // a plan holds only what its kind's identity names
  return *found->second;
}

std::vector<engine::ObjectView> Children::objects_of(const std::string& owner_uid) const {
  std::vector<engine::ObjectView> all;
  for (const auto& [resource, cache] : objects_) {
    auto views = cache->of(owner_uid);
    std::ranges::move(views, std::back_inserter(all));
  }
  return all;
}

std::size_t Children::count(const std::string& owner_uid) const {
  std::size_t sum = pods_.count(owner_uid);
  for (const auto& [resource, cache] : objects_) sum += cache->count(owner_uid);
  return sum;
}

cluster::Reflector& Children::reflector(const api::Resource& resource, rt::TaskScope& scope) {
  for (const auto& known : reflectors_) {
    if (known->resource() == resource) return *known;
  }
  reflectors_.push_back(std::make_unique<cluster::Reflector>(
      loop_, cluster_, resource,
      cluster::Selection{.ns = ns_, .labels = std::string(plan::labels::kJobUid)}, cache(resource),
      rng_, log_));
  scope.spawn(reflectors_.back()->run());
  return *reflectors_.back();
}

cluster::Sink& Children::cache(const api::Resource& resource) {
  if (resource == api::pods()) return pods_;
  auto& cache = objects_[resource];
  cache = std::make_unique<ObjectCache>(
      [resource](const json::Value& object) { return engine::ObjectView::from(resource, object); },
      changed_);
  return *cache;
}

}  // namespace muster::controller
