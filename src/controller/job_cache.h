#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "cluster/reflector.h"

namespace muster::controller {

// The jobs of one kind as last seen, by namespace and name; older news never replaces newer.
class JobCache final : public cluster::Sink {
 public:
  using Changed = std::function<void(const api::ObjectKey&)>;
  explicit JobCache(Changed changed) : changed_(std::move(changed)) {}

  void begin() override { staged_.clear(); }
  void stage(std::vector<cluster::ObjectPtr> page) override;
  void commit(const std::string& resource_version) override;
  void apply(const cluster::WatchEvent& event) override;
  // The answer to a status write of ours.
  void learn(const cluster::ObjectPtr& job);
  // The server says that there is no such job any more.
  void forget(const api::ObjectKey& key, const std::string& uid);

  // Null when there is none.
  [[nodiscard]] cluster::ObjectPtr find(const api::ObjectKey& key) const;
  [[nodiscard]] const std::map<api::ObjectKey, cluster::ObjectPtr>& all() const { return jobs_; }
  // The job that has this uid, if it is known.
  [[nodiscard]] const api::ObjectKey* key_of(const std::string& uid) const;

 private:
  bool put(const cluster::ObjectPtr& job);
  void drop(const api::ObjectKey& key);

  Changed changed_;
  std::map<api::ObjectKey, cluster::ObjectPtr> jobs_;
  std::map<std::string, api::ObjectKey> by_uid_;
  std::vector<cluster::ObjectPtr> staged_;
};

}  // namespace muster::controller
