#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/log.h"
#include "base/random.h"
#include "cluster/cluster.h"
#include "cluster/reflector.h"
#include "rt/loop.h"
#include "rt/scope.h"
#include "scheduler/place.h"

namespace muster::scheduler {

// Binds the pods of the embedded cluster to its nodes, gang by gang. Lives on the loop.
class Scheduler {
 public:
  Scheduler(rt::Loop& loop, cluster::Cluster& cluster, Rng& rng, Logger log);

  // Runs until cancelled.
  Task<void> run();

 private:
  // Keeps the views of one kind and wakes the scheduler when one changes.
  template <class View>
  class Views final : public cluster::Sink {
   public:
    Views(rt::Event& changed, bool (*wanted)(const json::Value&))
        : changed_(changed), wanted_(wanted) {}
    void begin() override { staged_.clear(); }
    void stage(std::vector<cluster::ObjectPtr> page) override {
      for (const auto& object : page) put(*object, staged_);
    }
    void commit(const std::string&) override {
      views_ = std::exchange(staged_, {});
      changed_.set();
    }
    void apply(const cluster::WatchEvent& event) override {
      if (event.type == cluster::EventType::Deleted) {
        views_.erase(api::uid_of(*event.object));
      } else {
        put(*event.object, views_);
      }
      changed_.set();
    }
    std::map<std::string, View>& all() { return views_; }

   private:
    void put(const json::Value& object, std::map<std::string, View>& views) {
      const std::string& uid = api::uid_of(object);
      if (!wanted_(object)) {
        views.erase(uid);
        return;
      }
      View view = View::from(object);
      if (const auto known = views_.find(uid); known != views_.end())
        keep_place(known->second, view);
      views.insert_or_assign(uid, std::move(view));
    }
    // A pod stays where it was bound: news from before that do not free its place.
    static void keep_place(const View& known, View& fresh) {
      if constexpr (std::is_same_v<View, PodView>) {
        if (fresh.node.empty()) fresh.node = known.node;
      }
    }
    rt::Event& changed_;
    bool (*wanted_)(const json::Value&);
    std::map<std::string, View> views_;
    std::map<std::string, View> staged_;
  };

  // One look at everything; an error when the run is to end.
  Task<Result<void>> schedule();
  Task<void> bind(Binding binding);
  Task<void> explain(Refused refused);

  rt::Loop& loop_;
  cluster::Cluster& cluster_;
  Rng& rng_;
  Logger log_;
  rt::Event changed_;
  Views<NodeView> nodes_;
  Views<PodView> pods_;
  Views<ClaimView> claims_;
  cluster::Reflector node_reflector_;
  cluster::Reflector pod_reflector_;
  cluster::Reflector claim_reflector_;
  std::map<std::string, std::string> explained_;  // by pod uid: the last message
};

}  // namespace muster::scheduler
