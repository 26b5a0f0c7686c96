#include "cli/jobs/wait_deleted.h"

#include <algorithm>

#include "cli/objects/watched.h"
#include "plan/dialect.h"

namespace muster::cli {
namespace {

// Until none of the selected objects is left that `counts`.
Task<Result<void>> wait_until_none(Context& context, cluster::Cluster& cluster,
                                   api::Resource resource, api::Selection where,
                                   std::function<bool(const json::Value&)> counts) {
  rt::Event changed(context.loop);
  Watched watched(context, cluster, resource, std::move(where), changed);
  watched.start();
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

}  // namespace

Task<Result<void>> wait_until_deleted(Context& context, cluster::Cluster& cluster,
                                      api::Resource resource, api::ObjectKey key, std::string uid) {
  const plan::Dialect* dialect = context.registry.find(resource);
  CO_TRY(co_await wait_until_none(
      context, cluster, resource, {.ns = key.ns, .fields = "metadata.name=" + key.name},
      [uid](const json::Value& object) { return api::uid_of(object) == uid; }));
  if (dialect == nullptr) co_return Result<void>{};
  co_return co_await wait_until_none(context, cluster, api::pods(),
                                     {.ns = key.ns, .labels = dialect->identity().pods_of(uid)},
                                     [](const json::Value&) { return true; });
}

}  // namespace muster::cli
