#include "cli/submit.h"

#include <fmt/format.h>

#include "cli/job_view.h"
#include "json/write.h"
#include "plan/plan.h"
#include "rt/wait.h"

namespace muster::cli {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

bool travels(const std::string& name) {
  return name == "PATH" || name == "HOME" || name == "LD_LIBRARY_PATH" || name == "VIRTUAL_ENV" || name.starts_with("CONDA_");
}

// On this machine a pod finds programs as its submitter does.
void annotate_environment(json::Value& job, const Context& context) {
  json::Object environment;
  for (const auto& [name, value] : context.environment) {
    if (travels(name)) environment.set(name, value);
  }
  job["metadata"]["annotations"][plan::kEnvironmentAnnotation] = json::write(environment);
}

Task<Result<void>> wait_until_gone(Context& context, cluster::Cluster& cluster, const Manifest& manifest, std::string uid) {
  const api::ObjectKey key = api::key_of(manifest.object);
  const Monotonic latest = context.loop.monotonic() + seconds(60);
  while (context.loop.monotonic() < latest) {
    const auto job = co_await cluster.get(manifest.resource, key);
    const bool gone = (!job && job.error().code == ErrorCode::NotFound) || (job && api::uid_of(**job) != uid);
    if (gone) {
      const auto pods = CO_TRY(co_await cluster.list(
          api::pods(), {.where = {.ns = key.ns, .labels = fmt::format("{}={}", plan::labels::kJobUid, uid)}}));
      if (pods.items.empty()) co_return Result<void>{};
    }
    CO_TRY(co_await rt::sleep_for(context.loop, milliseconds(20)));
  }
  co_return fail(ErrorCode::Timeout, fmt::format("the old {} did not go within a minute", key.text()));
}

// Makes room for a job: a finished one of its name is deleted, a running one is in the way.
Task<Result<void>> replace_finished(Context& context, Target& target, const Manifest& manifest) {
  const api::ObjectKey key = api::key_of(manifest.object);
  auto existing = co_await target.cluster().get(manifest.resource, key);
  if (!existing) {
    if (existing.error().code == ErrorCode::NotFound) co_return Result<void>{};
    co_return fail(existing.error());
  }
  const std::string uid = api::uid_of(**existing);
  if (!JobView::from(**existing, *manifest.dialect).finished && !api::is_deleting(**existing)) {
    co_return fail(ErrorCode::AlreadyExists,
                   fmt::format("{} {} is still running; follow it with: muster logs -f {}   stop it with: muster delete {}",
                               manifest.resource.kind, key.text(), key.name, key.name));
  }
  auto removed = co_await target.cluster().remove(manifest.resource, key, {.uid = uid});
  if (!removed && removed.error().code != ErrorCode::NotFound) co_return fail(removed.error());
  co_return co_await wait_until_gone(context, target.cluster(), manifest, uid);
}

Task<void> take_back(cluster::Cluster& cluster, const std::vector<Manifest>& manifests,
                     const std::vector<cluster::ObjectPtr>& created) {
  for (std::size_t i = created.size(); i-- > 0;) {
    [[maybe_unused]] const auto removed = co_await cluster.remove(
        manifests[i].resource, api::key_of(*created[i]), {.uid = api::uid_of(*created[i])});
  }
}

}  // namespace

Task<Result<std::vector<cluster::ObjectPtr>>> submit(Context& context, Target& target, std::vector<Manifest> manifests) {
  for (const Manifest& manifest : manifests) {
    if (manifest.dialect != nullptr && !api::name_of(manifest.object).empty()) {
      CO_TRY(co_await replace_finished(context, target, manifest));
    }
  }
  std::vector<cluster::ObjectPtr> created;
  for (Manifest& manifest : manifests) {
    if (manifest.dialect != nullptr && target.is_local()) annotate_environment(manifest.object, context);
    auto object = co_await target.cluster().create(manifest.resource, manifest.object);
    if (!object) {
      co_await take_back(target.cluster(), manifests, created);
      co_return fail(object.error().in(manifest.source));
    }
    created.push_back(*object);
  }
  co_return created;
}

}  // namespace muster::cli
