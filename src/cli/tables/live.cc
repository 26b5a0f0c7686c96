#include "cli/tables/live.h"

#include <csignal>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "api/object.h"
#include "api/pod.h"
#include "cli/objects/watched.h"
#include "cli/tables/surroundings.h"

namespace muster::cli {
namespace {

using Fate = Printer::Fate;

// Objects, and the pods that their rows speak of, watched together. Lives on the loop; its run()
// ends what it began.
class Live {
 public:
  Live(Context& context, cluster::Cluster& cluster, std::string ns, Printer& printer)
      : context_(context),
        cluster_(cluster),
        ns_(std::move(ns)),
        printer_(printer),
        changed_(context.loop),
        scope_(context.loop) {}

  Task<Result<int>> run(std::vector<Selected> selected, std::vector<Item> first) {
    context_.output.on_broken([this] { stop(exit_code::kOk); });
    scope_.spawn(wait_for_signal());
    for (const Item& item : first)
      versions_[api::uid_of(*item.object)] = api::resource_version_of(*item.object);
    Result<void> printed = co_await print_first(std::move(first));
    watch(std::move(selected));
    while (printed && !ended_) {
      printed = print_changes();
      context_.output.flush();
      if (printed && !ended_ && changes_.empty() && !co_await changed_.wait()) break;
    }
    context_.output.on_broken({});
    for (const auto& one : watched_) co_await one->close();
    co_await scope_.close();
    if (!printed) co_return fail(printed.error());
    co_return code_;
  }

 private:
  struct Change {
    Fate fate = Fate::Seen;
    Item item;
  };

  void stop(int code) {
    ended_ = true;
    code_ = code;
    changed_.pulse();
  }

  Task<void> wait_for_signal() {
    rt::Signals signals(context_.loop, {SIGINT, SIGTERM});
    const auto signal = co_await signals.next();
    if (signal) stop(128 + *signal);
  }

  void watch(std::vector<Selected> selected) {
    std::vector<NamedResource> kinds;
    for (Selected& one : selected) {
      kinds.push_back(one.of);
      kinds_.push_back(std::make_unique<NamedResource>(std::move(one.of)));
      const NamedResource* kind = kinds_.back().get();
      watched_.push_back(std::make_unique<Watched>(
          context_, cluster_, kind->resource, std::move(one.where), changed_,
          [this, kind, names = std::move(one.names)](Watched::Change change,
                                                     const cluster::ObjectPtr& object) {
            if (names.empty() || names.contains(api::name_of(*object)))
              see({.of = kind, .object = object}, change);
          }));
    }
    if (pods_readable_) {
      for (api::Selection& where : pods_beside(kinds, ns_)) {
        watched_.push_back(std::make_unique<Watched>(
            context_, cluster_, api::pods(), std::move(where), changed_,
            [this](Watched::Change change, const cluster::ObjectPtr& pod) {
              see_pod(change, pod);
            }));
      }
    }
    for (const auto& one : watched_) one->start();
  }

  // What the first list has is printed already.
  void see(Item item, Watched::Change change) {
    const std::string& uid = api::uid_of(*item.object);
    const std::string& version = api::resource_version_of(*item.object);
    if (change == Watched::Change::Gone) {
      shown_.erase(uid);
      versions_.erase(uid);
      changes_.push_back({.fate = Fate::Gone, .item = std::move(item)});
    } else {
      shown_[uid] = item;
      if (std::exchange(versions_[uid], version) == version) return;
      changes_.push_back({.item = std::move(item)});
    }
    changed_.pulse();
  }

  // Rows of jobs and nodes speak of their pods.
  void see_pod(Watched::Change change, const cluster::ObjectPtr& pod) {
    if (change == Watched::Change::Gone)
      pods_.erase(api::uid_of(*pod));
    else
      pods_[api::uid_of(*pod)] = pod;
    for (const auto& [uid, item] : shown_) {
      const bool concerned =
          item.of->dialect != nullptr
              ? api::label_of(*pod, item.of->dialect->identity().uid_label) == uid
              : item.of->resource == api::nodes() &&
                    api::node_name_of(*pod) == api::name_of(*item.object);
      if (concerned) changes_.push_back({.item = item});
    }
    changed_.pulse();
  }

  [[nodiscard]] Surroundings surroundings() const {
    Objects pods;
    for (const auto& [uid, pod] : pods_) pods.push_back(pod);
    std::vector<NamedResource> kinds;
    std::set<std::string> resources;
    for (const auto& [uid, item] : shown_) {
      if (resources.insert(item.of->resource.qualified()).second) kinds.push_back(*item.of);
    }
    Surroundings around = with_pods(context_.loop.now(), kinds, pods);
    around.pods_known = pods_readable_;
    return around;
  }

  Task<Result<void>> print_first(std::vector<Item> first) {
    Surroundings around;
    if (printer_.prints_table()) around = co_await look_around(context_, cluster_, first, ns_);
    pods_readable_ = around.pods_known;
    if (first.empty()) co_return Result<void>{};
    co_return printer_.print_each(first, around);
  }

  Result<void> print_changes() {
    if (changes_.empty()) return {};
    const Surroundings around = surroundings();
    for (const Change& change : std::exchange(changes_, {}))
      TRY(printer_.print_change(change.item, around, change.fate));
    return {};
  }

  Context& context_;
  cluster::Cluster& cluster_;
  std::string ns_;
  Printer& printer_;
  rt::Event changed_;
  bool ended_ = false;
  int code_ = exit_code::kOk;
  bool pods_readable_ = false;
  std::vector<std::unique_ptr<NamedResource>> kinds_;
  std::vector<std::unique_ptr<Watched>> watched_;
  std::map<std::string, std::string> versions_;  // that were printed, by uid
  std::map<std::string, Item> shown_;            // by uid
  std::map<std::string, cluster::ObjectPtr> pods_;
  std::vector<Change> changes_;
  rt::TaskScope scope_;
};

}  // namespace

Task<Result<int>> print_as_they_change(Context& context, cluster::Cluster& cluster, std::string ns,
                                       std::vector<Selected> selected, std::vector<Item> first,
                                       Printer& printer) {
  Live live(context, cluster, std::move(ns), printer);
  co_return co_await live.run(std::move(selected), std::move(first));
}

}  // namespace muster::cli
