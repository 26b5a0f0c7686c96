#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "cli/context.h"
#include "cluster/cluster.h"
#include "cluster/reflector.h"
#include "rt/scope.h"
#include "rt/wait.h"

namespace muster::cli {

// The objects of one selection as they are now; `changed` is pulsed at each change. Goes on through
// broken connections. Lives on the loop; close() before it or the event is destroyed.
class Watched final : private cluster::Sink {
 public:
  enum class Change { Seen, Gone };
  // Called with each object that is new or different, and with each that is gone, as it was last.
  using Listener = std::function<void(Change, const cluster::ObjectPtr&)>;

  Watched(Context& context, cluster::Cluster& cluster, const api::Resource& resource,
          api::Selection where, rt::Event& changed, Listener listener = {});

  void start();
  Task<void> close();

  // Whether a first list has come; until then nothing is known.
  [[nodiscard]] bool known() const { return known_; }
  [[nodiscard]] const std::map<api::ObjectKey, cluster::ObjectPtr>& objects() const {
    return objects_;
  }
  // Why nothing will ever come: we may not look, or there is nothing of that kind.
  [[nodiscard]] std::optional<Error> refusal() const;

 private:
  void begin() override { staged_.clear(); }
  void stage(std::vector<cluster::ObjectPtr> page) override;
  void commit(const std::string& resource_version) override;
  void apply(const cluster::WatchEvent& event) override;
  Task<void> report_trouble();

  Listener listener_;
  rt::Event& changed_;
  bool known_ = false;
  std::map<api::ObjectKey, cluster::ObjectPtr> objects_;
  std::map<api::ObjectKey, cluster::ObjectPtr> staged_;
  cluster::Reflector reflector_;
  rt::TaskScope scope_;
};

}  // namespace muster::cli
