#include "controller/wave.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "controller/keys/key_data.h"
#include "engine/children.h"

namespace muster::controller {
namespace {

using plan::Note;

// Of all waves together, on their way or at the cluster's own limit; no server does better with
// more.
constexpr std::size_t kMostInFlight = 256;
constexpr std::string_view kOurLabels =
    plan::labels::kJobUid.substr(0, plan::labels::kJobUid.find('/') + 1);

// Only these are decided on; whatever else goes wrong is tried again.
bool is_refusal(ErrorCode code) {
  return code == ErrorCode::Invalid || code == ErrorCode::BadRequest ||
         code == ErrorCode::Forbidden || code == ErrorCode::TooLarge;
}

// More than ten of a kind are told in one sentence.
void fold(std::vector<Note>& notes, Note::Kind one, Note::Kind many) {
  std::map<std::string, int> counts;  // by kind of object
  for (const Note& note : notes) {
    if (note.kind == one) ++counts[note.object_kind];
  }
  for (const auto& [object_kind, count] : counts) {
    if (count <= 10) continue;
    std::erase_if(notes, [&](const Note& note) {
      return note.kind == one && note.object_kind == object_kind;
    });
    notes.push_back({.kind = many, .object_kind = object_kind, .subject = std::to_string(count)});
  }
}

// Whether the owner is a job of this kind and name with another uid. There is one of a name at a
// time, and it is ours: that owner was deleted, and garbage collection has not come to its children
// yet.
bool is_of_predecessor(const json::Value& object, const plan::JobRef& job) {
  return std::ranges::any_of(api::owners_of(object), [&](const api::OwnerReference& owner) {
    return owner.controller && owner.kind == job.resource.kind && owner.name == job.name &&
           api::split_api_version(owner.api_version).group == job.resource.group;
  });
}

}  // namespace

WaveRunner::WaveRunner(rt::Loop& loop, cluster::Cluster& cluster, Caches caches, Rng& rng,
                       std::function<bool()> may_write, OfOthers of_others)
    : loop_(loop),
      cluster_(cluster),
      caches_(std::move(caches)),
      rng_(rng),
      may_write_(std::move(may_write)),
      of_others_(of_others),
      gate_(loop, kMostInFlight) {}

Task<WaveResult> WaveRunner::run(const plan::Plan& plan, std::vector<engine::Action> wave) {
  WaveResult result;
  rt::TaskScope scope(loop_);
  // If the caller is cancelled, so is everything in flight; it still ends before we return.
  const auto stop = [&scope] { scope.request_stop(); };
  const std::stop_callback linked(co_await rt::current_stop(), stop);
  auto next = wave.cbegin();
  const std::size_t senders = std::min(wave.size(), kMostInFlight);
  for (std::size_t i = 0; i < senders; ++i) scope.spawn(send_from(plan, next, wave.cend(), result));
  ++running_;
  co_await scope.join();
  --running_;
  fold(result.notes, Note::Kind::PodCreated, Note::Kind::PodsCreated);
  fold(result.notes, Note::Kind::PodDeleted, Note::Kind::PodsDeleted);
  fold(result.notes, Note::Kind::ObjectCreated, Note::Kind::ObjectsCreated);
  fold(result.notes, Note::Kind::ObjectDeleted, Note::Kind::ObjectsDeleted);
  co_return result;
}

// One of several that take from the same wave: what waits for its turn takes little room.
Task<void> WaveRunner::send_from(const plan::Plan& plan,
                                 std::vector<engine::Action>::const_iterator& next,
                                 std::vector<engine::Action>::const_iterator end,
                                 WaveResult& result) {
  while (next != end) {
    const auto permit = co_await gate_.enter();
    if (!permit) {
      result.failure = permit.error();
      co_return;
    }
    if (next != end) co_await send(plan, *next++, result);
  }
}

Task<void> WaveRunner::send(const plan::Plan& plan, const engine::Action& action,
                            WaveResult& result) {
  const plan::JobRef& job = plan.job;
  if (const auto* pod = std::get_if<engine::CreatePod>(&action)) {
    engine::Refusal refusal{
        .kind = "Pod", .name = pod->name, .role = pod->role->name, .index = pod->index};
    co_await create(job, api::pods(), engine::make_pod(plan, *pod), std::move(refusal), result);
  } else if (const auto* object = std::get_if<engine::CreateObject>(&action);
             object != nullptr && object->object->is_secret()) {
    co_await create_secret(plan, *object, result);
  } else if (object != nullptr) {
    const api::Resource& resource = object->object->id.resource;
    engine::Refusal refusal{.kind = resource.kind, .name = object->name};
    co_await create(job, resource, engine::make_object(plan, *object), std::move(refusal), result);
  } else if (const auto* gone = std::get_if<engine::DeletePod>(&action)) {
    co_await remove(job, api::pods(), gone->name,
                    {.uid = gone->uid, .resource_version = gone->resource_version}, result);
  } else if (const auto* other = std::get_if<engine::DeleteObject>(&action)) {
    co_await remove(job, other->resource, other->name, {.uid = other->uid}, result);
  } else {
    co_await remove(job, job.resource, job.name, {.uid = job.uid}, result);
  }
}

Task<void> WaveRunner::create(const plan::JobRef& job, const api::Resource& resource,
                              json::Value body, engine::Refusal refusal, WaveResult& result) {
  if (!may_write_()) co_return;
  json::Value labels = body["metadata"]["labels"];
  auto created = co_await cluster_.create(resource, std::move(body));
  if (created) {
    learn(resource, **created);
    const bool pod = resource == api::pods();
    result.notes.push_back({.kind = pod ? Note::Kind::PodCreated : Note::Kind::ObjectCreated,
                            .object_kind = resource.kind,
                            .subject = refusal.name});
    co_return;
  }
  refusal.error = created.error();
  if (refusal.error.code == ErrorCode::AlreadyExists) {
    co_await settle_existing(job, resource, std::move(labels), std::move(refusal), result);
    co_return;
  }
  refuse(std::move(refusal), result);
}

void WaveRunner::refuse(engine::Refusal refusal, WaveResult& result) {
  if (refusal.error.code == ErrorCode::Cancelled) {
    result.failure = refusal.error;
    return;
  }
  result.notes.push_back({.kind = Note::Kind::CreateFailed,
                          .object_kind = refusal.kind,
                          .subject = refusal.name,
                          .detail = refusal.error.message});
  if (is_refusal(refusal.error.code)) {
    result.refusals.push_back(std::move(refusal));
  } else {
    result.failure = refusal.error;
  }
}

// We may not look at secrets. The name carries the job's uid: whoever has it already is ours, made
// by a process before this one or by a try whose answer was lost.
Task<void> WaveRunner::create_secret(const plan::Plan& plan, const engine::CreateObject& action,
                                     WaveResult& result) {
  if (!may_write_()) co_return;
  const api::Resource& resource = action.object->id.resource;
  engine::Refusal refusal{.kind = resource.kind, .name = action.name};
  json::Value body = engine::make_object(plan, action);
  if (const auto added = add_keys(action.object->source, rng_, body); !added) {
    result.failure = added.error();
    co_return;
  }
  const auto created = co_await cluster_.create(resource, std::move(body));
  if (!created && created.error().code != ErrorCode::AlreadyExists) {
    refusal.error = created.error();
    refuse(std::move(refusal), result);
    co_return;
  }
  result.secrets.push_back(action.name);
  if (!created) co_return;
  result.notes.push_back(
      {.kind = Note::Kind::ObjectCreated, .object_kind = resource.kind, .subject = action.name});
}

// The name is taken: by our own earlier try, by somebody who is leaving, or by somebody who stays.
Task<void> WaveRunner::settle_existing(const plan::JobRef& job, const api::Resource& resource,
                                       json::Value labels, engine::Refusal refusal,
                                       WaveResult& result) {
  const auto existing = co_await cluster_.get(resource, {.ns = job.ns, .name = refusal.name});
  if (!existing) {
    result.failure = existing.error();  // gone meanwhile: the next look creates it
    co_return;
  }
  const bool ours = api::controller_uid_of(**existing) == job.uid;
  if (ours && api::label_of(**existing, plan::labels::kJobUid).empty()) {
    co_await take_over(resource, **existing, std::move(labels), std::move(refusal), result);
    co_return;
  }
  if (ours) {
    // The watch is past it and never showed it: an event was lost, or its end is on the way. Trying
    // again at once would find the same.
    if (!learn(resource, **existing)) result.failure = refusal.error;
    co_return;
  }
  refusal.foreign = true;
  refusal.terminating = api::is_deleting(**existing) || is_of_predecessor(**existing, job);
  result.refusals.push_back(std::move(refusal));
}

// Another operator made it for this job. By our labels we find it again.
Task<void> WaveRunner::take_over(const api::Resource& resource, json::Value existing,
                                 json::Value labels, engine::Refusal refusal, WaveResult& result) {
  for (const auto& [key, value] : labels.as_object()) {
    if (key.starts_with(kOurLabels)) existing["metadata"]["labels"][key] = value;
  }
  Result<cluster::ObjectPtr> taken = fail(
      ErrorCode::Conflict, "another operator made it: muster operator --take-over goes on with it");
  if (of_others_ == OfOthers::TakenOver)
    taken = co_await cluster_.update(resource, std::move(existing));
  if (taken) {
    learn(resource, **taken);
    co_return;
  }
  result.failure = taken.error().in(fmt::format("taking over {} {}", refusal.kind, refusal.name));
  if (taken.error().code == ErrorCode::Cancelled) co_return;
  result.notes.push_back({.kind = Note::Kind::CreateFailed,
                          .object_kind = refusal.kind,
                          .subject = refusal.name,
                          .detail = taken.error().message});
}

Task<void> WaveRunner::remove(const plan::JobRef& job, const api::Resource& resource,
                              std::string name, cluster::DeleteOptions options,
                              WaveResult& result) {
  if (!may_write_()) co_return;
  const std::string uid = options.uid;
  const bool as_seen = !options.resource_version.empty();
  const bool pod = resource == api::pods();
  if (pod) {
    caches_.pods->expect_deletion(job.uid, uid);
  } else if (resource != job.resource) {
    caches_.objects(resource).expect_deletion(job.uid, uid);
  }
  auto removed =
      co_await cluster_.remove(resource, {.ns = job.ns, .name = name}, std::move(options));
  if (resource == job.resource && !removed) {
    result.job_in_doubt |=
        removed.error().code == ErrorCode::NotFound || removed.error().code == ErrorCode::Conflict;
  }
  if (removed || removed.error().code == ErrorCode::NotFound) {
    if (pod) {
      caches_.pods->mark_deleting(job.uid, uid);
    } else if (resource != job.resource) {
      caches_.objects(resource).mark_deleting(job.uid, uid);
    }
    // Another of the same name, or none: the watch will say that ours is gone.
    if (!removed) co_return;
    const auto kind = pod                        ? Note::Kind::PodDeleted
                      : resource == job.resource ? Note::Kind::JobDeleted
                                                 : Note::Kind::ObjectDeleted;
    result.notes.push_back({.kind = kind, .object_kind = resource.kind, .subject = name});
    co_return;
  }
  if (removed.error().code == ErrorCode::Conflict && as_seen) {
    co_await look_again(job, name, result);
    co_return;
  }
  // Conflict: the name belongs to a newer object now, which we did not decide on; the watch will
  // say so, and until then asking again at once would only be refused again.
  if (removed.error().code == ErrorCode::Cancelled || removed.error().code == ErrorCode::Conflict) {
    result.failure = removed.error();
    co_return;
  }
  result.notes.push_back({.kind = Note::Kind::DeleteFailed,
                          .object_kind = resource.kind,
                          .subject = name,
                          .detail = removed.error().message});
  result.failure = removed.error();
}

// A pod changed since it was seen: the next decision rests on what it is now.
Task<void> WaveRunner::look_again(const plan::JobRef& job, const std::string& name,
                                  WaveResult& result) {
  const auto now = co_await cluster_.get(api::pods(), {.ns = job.ns, .name = name});
  if (!now) {
    result.failure = now.error();
  } else if (api::controller_uid_of(**now) == job.uid) {
    learn(api::pods(), **now);
  }
}

bool WaveRunner::learn(const api::Resource& resource, const json::Value& object) {
  if (resource == api::pods()) return caches_.pods->learn(object);
  return caches_.objects(resource).learn(object);
}

}  // namespace muster::controller
