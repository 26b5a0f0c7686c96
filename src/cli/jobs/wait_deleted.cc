#include "cli/jobs/wait_deleted.h"

#include "plan/dialect.h"
#include "rt/wait.h"

namespace muster::cli {

Task<Result<void>> wait_until_deleted(Context& context, cluster::Cluster& cluster,
                                      api::Resource resource, api::ObjectKey key, std::string uid) {
  const plan::Dialect* dialect = context.registry.find(resource);
  const std::string pods_of_it =
      (dialect == nullptr ? plan::Identity() : dialect->identity()).pods_of(uid);
  while (true) {
    const auto object = co_await cluster.get(resource, key);
    const bool there = object && api::uid_of(**object) == uid;
    if (!object && object.error().code != ErrorCode::NotFound) co_return fail(object.error());
    if (!there) {
      const auto pods = CO_TRY(
          co_await cluster.list(api::pods(), {.where = {.ns = key.ns, .labels = pods_of_it}}));
      if (pods.items.empty()) co_return Result<void>{};
    }
    CO_TRY(co_await rt::sleep_for(context.loop, std::chrono::milliseconds(20)));
  }
}

}  // namespace muster::cli
