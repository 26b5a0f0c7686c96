#include "cli/jobs/submit.h"

#include <algorithm>

#include <fmt/format.h>

#include "api/pod.h"
#include "cli/jobs/job_view.h"
#include "cli/jobs/wait_deleted.h"
#include "cli/manifests/recorded.h"
#include "cli/objects/absent.h"
#include "plan/plan.h"
#include "rt/wait.h"
#include "server/rules/admission.h"

namespace muster::cli {
namespace {

using std::chrono::seconds;

// On this machine a pod finds programs and files as its submitter does.
void annotate_environment(json::Value& job, const Context& context) {
  job["metadata"]["annotations"][plan::kEnvironmentAnnotation] =
      recorded_environment(context.environment, current_directory());
}

bool is_finished(const Manifest& manifest, const json::Value& object) {
  return manifest.dialect != nullptr ? JobView::from(object, *manifest.dialect).finished()
                                     : api::is_finished(api::phase_of(object));
}

// Their spec is for good, and they stand for data.
bool is_storage(const api::Resource& resource) {
  return resource == api::persistent_volume_claims() || resource == api::persistent_volumes() ||
         resource == api::storage_classes();
}

// Everything that is wanted is there; what the server added to it does not count.
bool holds(const json::Value& existing, const json::Value& wanted) {
  if (wanted.is_object()) {
    return std::ranges::all_of(wanted.as_object(), [&](const auto& member) {
      return member.second.is_null() || holds(existing[member.first], member.second);
    });
  }
  if (wanted.is_array()) {
    const json::Array& there = existing.as_array();
    const json::Array& items = wanted.as_array();
    return existing.is_array() && there.size() == items.size() &&
           std::ranges::equal(there, items, holds);
  }
  return existing == wanted;
}

// What becomes of one object of the file.
struct Step {
  enum class What { Create, Keep, Update, Replace };
  What what = What::Create;
  cluster::ObjectPtr existing;
};

Result<Step> step_for(const Context& context, const Manifest& manifest,
                      const cluster::ObjectPtr& existing) {
  const api::ObjectKey key = api::key_of(*existing);
  const auto in_the_way = [&](std::string_view why) {
    return fail(ErrorCode::AlreadyExists,
                fmt::format("{} {} {}", manifest.resource.kind, key.text(), why));
  };
  const bool leaving = api::is_deleting(*existing);
  if (manifest.runs()) {
    if (leaving || is_finished(manifest, *existing))
      return Step{.what = Step::What::Replace, .existing = existing};
    if (manifest.dialect == nullptr)
      return in_the_way(fmt::format("is still there; delete it with: {}",
                                    context.command("delete pods " + key.name)));
    return in_the_way(fmt::format("is still running; follow it with: {}   stop it with: {}",
                                  context.command("logs -f " + key.name),
                                  context.command("delete " + key.name)));
  }
  if (leaving) return in_the_way("is being deleted; wait until it is gone");
  // A namespace or an account has nothing of its own to change.
  const bool fixed =
      manifest.resource == api::namespaces() || manifest.resource == api::service_accounts();
  if (fixed || holds(*existing, manifest.object))
    return Step{.what = Step::What::Keep, .existing = existing};
  if (is_storage(manifest.resource)) {
    return in_the_way(
        "exists and differs from the file, and what it says is for good: delete it, or choose "
        "another name");
  }
  return Step{.what = Step::What::Update, .existing = existing};
}

// What this machine's server would refuse, before anything is created. A real cluster has rules of
// its own.
Result<void> check_all(Context& context, const std::vector<Manifest>& manifests) {
  const server::Kinds kinds(context.registry);
  for (const Manifest& manifest : manifests) {
    const server::Kind* kind = kinds.find(manifest.resource);
    if (kind == nullptr) {
      return fail(ErrorCode::NotFound, fmt::format("{}: this machine has no {}", manifest.source,
                                                   manifest.resource.qualified()));
    }
    json::Value object = manifest.object;
    auto checked = server::check_shape(*kind, object);
    if (checked) checked = server::prepare_creation(*kind, object, context.rng, context.loop.now());
    if (checked) checked = server::validate_creation(*kind, object);
    if (!checked) return fail(checked.error().in(manifest.source));
  }
  return {};
}

Task<Result<std::vector<Step>>> plan_steps(const Context& context, cluster::Cluster& cluster,
                                           const std::vector<Manifest>& manifests) {
  std::vector<Step> steps;
  for (const Manifest& manifest : manifests) {
    if (api::name_of(manifest.object).empty()) {  // generateName: always a new one
      steps.emplace_back();
      continue;
    }
    auto existing = co_await cluster.get(manifest.resource, api::key_of(manifest.object));
    if (existing) {
      auto step = step_for(context, manifest, *existing);
      if (!step) co_return fail(step.error());
      steps.push_back(std::move(*step));
    } else if (existing.error().code == ErrorCode::NotFound) {
      steps.emplace_back();
    } else {
      co_return fail(existing.error().in(manifest.source));
    }
  }
  co_return steps;
}

// Makes room for a job or pod whose finished predecessor has its name.
Task<Result<void>> make_room(Context& context, OpenCluster& target, const Manifest& manifest,
                             const cluster::ObjectPtr& existing) {
  const api::ObjectKey key = api::key_of(*existing);
  const std::string uid = api::uid_of(*existing);
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

Task<Result<Submitted>> carry_out(cluster::Cluster& cluster, Manifest manifest, Step step) {
  if (step.what == Step::What::Keep) co_return Submitted{.object = step.existing, .is_new = false};
  if (step.what == Step::What::Update) {
    manifest.object["metadata"]["resourceVersion"] = api::resource_version_of(*step.existing);
    const auto updated =
        CO_TRY(co_await cluster.update(manifest.resource, std::move(manifest.object)));
    co_return Submitted{.object = updated, .is_new = false};
  }
  const auto created =
      CO_TRY(co_await cluster.create(manifest.resource, std::move(manifest.object)));
  co_return Submitted{.object = created};
}

// A server says the same of a kind that it does not know and of a namespace that is not there.
Task<Error> explain(cluster::Cluster& cluster, const Manifest& manifest, Error error) {
  if (error.code != ErrorCode::NotFound || manifest.dialect == nullptr) co_return error;
  const auto listed = co_await cluster.list(
      manifest.resource, {.where = {.ns = api::namespace_of(manifest.object)}, .limit = 1});
  const bool absent = !listed && listed.error().code == ErrorCode::NotFound;
  co_return absent ? absent_kind(manifest.resource) : error;
}

Task<void> remove_one(cluster::Cluster& cluster, const Manifest& manifest,
                      const json::Value& object) {
  [[maybe_unused]] const auto removed =
      co_await cluster.remove(manifest.resource, api::key_of(object), {.uid = api::uid_of(object)});
}

Task<void> take_back(cluster::Cluster& cluster, const std::vector<Manifest>& manifests,
                     const std::vector<Submitted>& submitted) {
  for (std::size_t i = submitted.size(); i-- > 0;) {
    if (submitted[i].is_new) co_await remove_one(cluster, manifests[i], *submitted[i].object);
  }
}

}  // namespace

Task<Result<std::vector<Submitted>>> submit(Context& context, OpenCluster& target,
                                            std::vector<Manifest> manifests) {
  if (target.is_local()) CO_TRY(check_all(context, manifests));
  const auto steps = CO_TRY(co_await plan_steps(context, target.cluster(), manifests));
  for (std::size_t i = 0; i < manifests.size(); ++i) {
    if (steps[i].what == Step::What::Replace)
      CO_TRY(co_await make_room(context, target, manifests[i], steps[i].existing));
  }
  std::vector<Submitted> submitted;
  for (std::size_t i = 0; i < manifests.size(); ++i) {
    if (manifests[i].runs() && target.is_local())
      annotate_environment(manifests[i].object, context);
    auto one = co_await carry_out(target.cluster(), manifests[i], steps[i]);
    if (!one) {
      co_await take_back(target.cluster(), manifests, submitted);
      const Error why = co_await explain(target.cluster(), manifests[i], one.error());
      co_return fail(why.in(manifests[i].source));
    }
    submitted.push_back(std::move(*one));
  }
  co_return submitted;
}

Task<std::vector<std::string>> clean_up(const Context& context, cluster::Cluster& cluster,
                                        std::vector<Manifest> manifests,
                                        std::vector<Submitted> submitted) {
  std::vector<std::string> kept;
  for (std::size_t i = submitted.size(); i-- > 0;) {
    if (!submitted[i].is_new) continue;
    const api::Resource& resource = manifests[i].resource;
    if (is_storage(resource) || resource == api::namespaces()) {
      const std::string& name = api::name_of(*submitted[i].object);
      kept.push_back(fmt::format(
          "{} {}; delete it with: {}", resource.kind, api::key_of(*submitted[i].object).text(),
          context.command(fmt::format("delete {} {}", resource.plural, name))));
    } else {
      co_await remove_one(cluster, manifests[i], *submitted[i].object);
    }
  }
  co_return kept;
}

}  // namespace muster::cli
