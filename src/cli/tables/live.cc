#include "cli/tables/live.h"

#include <csignal>
#include <deque>
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

// Objects, and the pods that their rows speak of, watched together. Lives on the loop; close()
// before it is destroyed.
class Live {
 public:
  Live(Context& context, cluster::Cluster& cluster, std::string ns, Wanted wanted, Printer& printer)
      : context_(context),
        cluster_(cluster),
        ns_(std::move(ns)),
        wanted_(std::move(wanted)),
        printer_(printer),
        changed_(context.loop),
        scope_(context.loop) {}

  Task<Result<int>> run(std::vector<Item> first) {
    context_.output.on_broken([this] { stop(exit_code::kOk); });
    scope_.spawn(wait_for_signal());
    start(first);
    Result<int> code = co_await print_first(std::move(first));
    while (code && !ended_) {
      const auto printed = print_changes();
      if (!printed) code = fail(printed.error());
      context_.output.flush();
      if (code && !ended_ && changes_.empty() && !co_await changed_.wait()) break;
    }
    context_.output.on_broken({});
    for (const auto& one : watched_) co_await one->close();
    co_await scope_.close();
    if (!code) co_return code;
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

  void start(const std::vector<Item>& first) {
    for (const Item& item : first) versions_[api::uid_of(*item.object)] = version_of(item.object);
    for (Selected& one : selections(wanted_, ns_)) {
      kinds_.push_back(std::make_unique<NamedResource>(one.of));
      watch(*kinds_.back(), std::move(one.where), std::move(one.names));
    }
    if (!printer_.prints_table()) return;
    std::vector<NamedResource> kinds;
    for (const auto& kind : kinds_) kinds.push_back(*kind);
    for (api::Selection& where : pods_beside(kinds, ns_)) watch_pods(std::move(where));
    for (const auto& one : watched_) one->start();
  }

  void watch(const NamedResource& kind, api::Selection where, std::set<std::string> names) {
    watched_.push_back(std::make_unique<Watched>(
        context_, cluster_, kind.resource, std::move(where),
        [this, &kind, names = std::move(names)](Watched::Change change,
                                                const cluster::ObjectPtr& object) {
          if (!names.empty() && !names.contains(api::name_of(*object))) return;
          note_change({.of = &kind, .object = object},
                      change == Watched::Change::Gone ? Fate::Gone : Fate::Seen);
        }));
  }
};

}  // namespace
}  // namespace muster::cli
