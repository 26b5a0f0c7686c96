#include "cli/jobs/wait_deleted.h"

#include <algorithm>

#include <fmt/format.h>

#include "cli/objects/watched.h"
#include "plan/dialect.h"

namespace muster::cli {
namespace {

// Until none of the selected objects is left that `counts`. `late` is told of them once, when it
// takes longer than the collector does.
Task<Result<void>> wait_until_none(Context& context, cluster::Cluster& cluster,
                                   api::Resource resource, api::Selection where,
                                   std::function<bool(const json::Value&)> counts,
                                   std::function<void(const Watched&)> late = {}) {
  rt::Event changed(context.loop);
  Watched watched(context, cluster, resource, std::move(where), changed);
  watched.start();
  rt::Timer patience(context.loop);
  if (late) patience.start(kCollectorPatience, [&] { late(watched); });
  Result<void> done;
  const auto over = [&] {
    return watched.known() && std::ranges::none_of(watched.objects(), [&](const auto& one) {
             return counts(*one.second);
           });
  };
  while (done && !over()) {
    if (const auto refusal = watched.refusal())
      done = fail(*refusal);
    else
      done = co_await changed.wait();
  }
  co_await watched.close();
  co_return done;
}

// On this machine they go with their job.
void tell_of_collector(const Context& context, const std::string& job, const Watched& pods) {
  const auto unasked = std::ranges::count_if(
      pods.objects(), [](const auto& one) { return !api::is_deleting(*one.second); });
  if (unasked == 0 || !context.wants_cluster()) return;
  context.output.note("note: {}\n", waits_for_collector(job, static_cast<std::size_t>(unasked)));
}

}  // namespace

std::string waits_for_collector(const std::string& job, std::size_t pods) {
  return fmt::format(
      "{} is deleted, {} of its pods not yet: waiting for the cluster's garbage collector, which "
      "may need 40 s to learn of a kind whose CRD is new",
      job, pods);
}

Task<Result<void>> wait_until_deleted(Context& context, cluster::Cluster& cluster,
                                      api::Resource resource, api::ObjectKey key, std::string uid) {
  const plan::Dialect* dialect = context.registry.find(resource);
  CO_TRY(co_await wait_until_none(
      context, cluster, resource, {.ns = key.ns, .fields = "metadata.name=" + key.name},
      [uid](const json::Value& object) { return api::uid_of(object) == uid; }));
  if (dialect == nullptr) co_return Result<void>{};
  co_return co_await wait_until_none(
      context, cluster, api::pods(), {.ns = key.ns, .labels = dialect->identity().pods_of(uid)},
      [](const json::Value&) { return true; },
      [&context, name = key.name](const Watched& pods) { tell_of_collector(context, name, pods); });
}

}  // namespace muster::cli
