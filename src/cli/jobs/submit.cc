#include "cli/jobs/submit.h"

#include <fmt/format.h>

#include "cli/jobs/job_view.h"
#include "cli/jobs/wait_deleted.h"
#include "json/write.h"
#include "plan/plan.h"
#include "rt/wait.h"

namespace muster::cli {
namespace {

using std::chrono::seconds;

bool travels(const std::string& name) {
  return name == "PATH" || name == "HOME" || name == "LD_LIBRARY_PATH" || name == "VIRTUAL_ENV" ||
         name.starts_with("CONDA_");
}

// On this machine a pod finds programs as its submitter does.
void annotate_environment(json::Value& job, const Context& context) {
  json::Object environment;
  for (const auto& [name, value] : context.environment) {
    if (travels(name)) environment.set(name, value);
  }
  job["metadata"]["annotations"][plan::kEnvironmentAnnotation] = json::write(environment);
}

// Makes room for a job: a finished one of its name is deleted, a running one is in the way.
Task<Result<void>> replace_finished(Context& context, OpenCluster& target,
                                    const Manifest& manifest) {
  const api::ObjectKey key = api::key_of(manifest.object);
  auto existing = co_await target.cluster().get(manifest.resource, key);
  if (!existing) {
    if (existing.error().code == ErrorCode::NotFound) co_return Result<void>{};
    co_return fail(existing.error());
  }
  const std::string uid = api::uid_of(**existing);
  if (!JobView::from(**existing, *manifest.dialect).finished && !api::is_deleting(**existing)) {
    co_return fail(ErrorCode::AlreadyExists,
                   fmt::format("{} {} is still running; follow it with: muster logs -f {}   stop "
                               "it with: muster delete {}",
                               manifest.resource.kind, key.text(), key.name, key.name));
  }
  auto removed = co_await target.cluster().remove(manifest.resource, key, {.uid = uid});
  if (!removed && removed.error().code != ErrorCode::NotFound) co_return fail(removed.error());
  auto gone = co_await rt::with_timeout(
      context.loop, seconds(60),
      wait_until_deleted(context, target.cluster(), manifest.resource, key, uid));
  if (!gone && gone.error().code == ErrorCode::Timeout) {
    co_return fail(ErrorCode::Timeout,
                   fmt::format("the old {} did not go within a minute", key.text()));
  }
  co_return gone;
}

struct Submitted {
  cluster::ObjectPtr object;
  bool is_new = true;  // ours to take back
};

// What a job needs beside it may be there from the run before; then it becomes what the file says.
Task<Result<Submitted>> create_or_replace(cluster::Cluster& cluster, Manifest manifest) {
  auto created = co_await cluster.create(manifest.resource, manifest.object);
  if (created) co_return Submitted{.object = *created};
  const bool replaceable = manifest.dialect == nullptr && manifest.resource != api::pods();
  if (created.error().code != ErrorCode::AlreadyExists || !replaceable)
    co_return fail(created.error());
  const auto existing =
      CO_TRY(co_await cluster.get(manifest.resource, api::key_of(manifest.object)));
  // A namespace or an account has nothing of its own to change.
  if (manifest.resource == api::namespaces() || manifest.resource == api::service_accounts()) {
    co_return Submitted{.object = existing, .is_new = false};
  }
  manifest.object["metadata"]["resourceVersion"] = api::resource_version_of(*existing);
  const auto updated =
      CO_TRY(co_await cluster.update(manifest.resource, std::move(manifest.object)));
  co_return Submitted{.object = updated, .is_new = false};
}

Task<void> take_back(cluster::Cluster& cluster, const std::vector<Manifest>& manifests,
                     const std::vector<Submitted>& submitted) {
  for (std::size_t i = submitted.size(); i-- > 0;) {
    if (!submitted[i].is_new) continue;
    const json::Value& object = *submitted[i].object;
    [[maybe_unused]] const auto removed = co_await cluster.remove(
        manifests[i].resource, api::key_of(object), {.uid = api::uid_of(object)});
  }
}

}  // namespace

Task<Result<std::vector<cluster::ObjectPtr>>> submit(Context& context, OpenCluster& target,
                                                     std::vector<Manifest> manifests) {
  for (const Manifest& manifest : manifests) {
    if (manifest.dialect != nullptr && !api::name_of(manifest.object).empty()) {
      CO_TRY(co_await replace_finished(context, target, manifest));
    }
  }
  std::vector<Submitted> submitted;
  for (Manifest& manifest : manifests) {
    if (manifest.dialect != nullptr && target.is_local())
      annotate_environment(manifest.object, context);
    auto one = co_await create_or_replace(target.cluster(), manifest);
    if (!one) {
      co_await take_back(target.cluster(), manifests, submitted);
      co_return fail(one.error().in(manifest.source));
    }
    submitted.push_back(std::move(*one));
  }
  std::vector<cluster::ObjectPtr> objects;
  for (Submitted& one : submitted) objects.push_back(std::move(one.object));
  co_return objects;
}

}  // namespace muster::cli
