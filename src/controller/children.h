#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/log.h"
#include "base/random.h"
#include "cluster/reflector.h"
#include "controller/child_cache.h"
#include "engine/observed.h"
#include "rt/scope.h"

namespace muster::controller {

using PodCache = ChildCache<engine::PodView>;
using ObjectCache = ChildCache<engine::ObjectView>;

// What exists of the jobs' children: pods always, and the other resources that the kinds name. Each
// is followed from when the first kind that needs it begins. Lives on the loop.
class Children {
 public:
  using Changed = std::function<void(const std::string& owner_uid, bool lost)>;

  Children(rt::Loop& loop, cluster::Cluster& cluster, std::string ns, Rng& rng, Logger log,
           Changed changed);

  // Follows pods and these as well, and completes once all of them are known; of the optional ones
  // it is enough that the server has none. The scope ends before this does.
  struct Wanted {
    std::vector<api::Resource> resources;
    std::vector<api::Resource> optional;
  };
  Task<Result<void>> follow(Wanted wanted, rt::TaskScope& scope);
  // Why one of them cannot be followed; nothing when all is well.
  [[nodiscard]] std::optional<Error> trouble() const;
  // The server does not have it, and need not.
  [[nodiscard]] bool is_dispensable(const cluster::Reflector& reflector) const;

  PodCache& pods() { return pods_; }
  // The resource is one of those that are followed.
  ObjectCache& objects(const api::Resource& resource);
  [[nodiscard]] std::vector<engine::ObjectView> objects_of(const std::string& owner_uid) const;
  // How many children a job has.
  [[nodiscard]] std::size_t count(const std::string& owner_uid) const;
  [[nodiscard]] const std::vector<std::unique_ptr<cluster::Reflector>>& reflectors() const {
    return reflectors_;
  }

 private:
  cluster::Reflector& reflector(const api::Resource& resource, rt::TaskScope& scope);
  cluster::Sink& cache(const api::Resource& resource);

  rt::Loop& loop_;
  cluster::Cluster& cluster_;
  std::string ns_;
  Rng& rng_;
  Logger log_;
  Changed changed_;
  PodCache pods_;
  std::map<api::Resource, std::unique_ptr<ObjectCache>> objects_;
  std::set<api::Resource> optional_;
  std::vector<std::unique_ptr<cluster::Reflector>> reflectors_;
};

}  // namespace muster::controller
