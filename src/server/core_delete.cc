#include <array>

#include <fmt/format.h>

#include "api/object.h"
#include "api/pod.h"
#include "server/core.h"
#include "server/rules/admission.h"

namespace muster::server {
namespace {

constexpr std::array kImmortal = {"default", "kube-system", "kube-public"};

std::int64_t grace_of(const json::Value& pod, const DeleteOptions& options) {
  if (api::node_name_of(pod).empty() || api::is_finished(api::phase_of(pod))) return 0;
  const std::int64_t grace =
      options.grace_seconds.value_or(pod["spec"]["terminationGracePeriodSeconds"].as_int(30));
  if (grace < 0) return 1;
  // What is stored is what was added to the clock, so that a shorter wish can be subtracted again.
  return std::chrono::floor<std::chrono::seconds>(seconds_saturating(grace)).count();
}

void add_finalizer(json::Value& object, std::string_view finalizer) {
  json::Array& finalizers = object["metadata"]["finalizers"].array();
  for (const json::Value& each : finalizers) {
    if (each.as_string() == finalizer) return;
  }
  finalizers.emplace_back(finalizer);
}

// This machine's node is no thing of its own: it would come back, without what it ran.
Error stays(const std::string& node) {
  return {.code = ErrorCode::Forbidden,
          .message = fmt::format("node \"{}\" is this machine, and stays; to stop everything on it "
                                 "delete the jobs and pods",
                                 node),
          .causes = {},
          .retry_after = std::nullopt};
}

// The deletion begins: from now on the object only waits for whoever still holds it.
void mark_deleting(json::Value& object, Time when, std::int64_t grace) {
  json::Object& metadata = object["metadata"].object();
  const bool first = !metadata.contains("deletionTimestamp");
  metadata.set("deletionTimestamp", format_time(when));
  metadata.set("deletionGracePeriodSeconds", grace);
  if (first && metadata.contains("generation")) {
    metadata.set("generation", metadata.find("generation")->as_int() + 1);
  }
}

}  // namespace

Result<ObjectPtr> Core::remove_now(const Kind& kind, const ObjectKey& key,
                                   const DeleteOptions& options, Mode mode) {
  if (const auto& failed = journal_.failure()) return fail(*failed);
  Table& table = journal_.table(kind);
  ObjectPtr old = table.find_head(key);
  if (old == nullptr) return fail(not_found(kind, key.name));
  TRY(check_preconditions(kind, *old, options.uid, options.resource_version));
  if (kind.is(api::namespaces())) return remove_namespace(table, old, mode);
  if (kind.is(api::nodes()) && key.name == own_node_) return fail(stays(key.name));

  ObjectPtr held = old;
  if (options.propagation != Propagation::Background && !api::is_deleting(*old)) {
    json::Value copy = *old;
    add_finalizer(copy,
                  options.propagation == Propagation::Orphan ? "orphan" : "foregroundDeletion");
    held = std::make_shared<const json::Value>(std::move(copy));
  }
  if (kind.is(api::pods())) return remove_pod(table, held, options, mode);
  if ((*held)["metadata"]["finalizers"].as_array().empty())
    return store_removal(table, *held, mode);
  if (api::is_deleting(*held)) return old;
  json::Value object = *held;
  mark_deleting(object, loop_.now(), 0);
  return store_change(table, old, std::move(object), mode);
}

Result<ObjectPtr> Core::remove_pod(Table& table, const ObjectPtr& pod, const DeleteOptions& options,
                                   Mode mode) {
  std::int64_t grace = grace_of(*pod, options);
  Time when = loop_.now() + seconds_saturating(grace);
  json::Value object = *pod;
  if (api::is_deleting(*pod)) {
    const std::int64_t before = (*pod)["metadata"]["deletionGracePeriodSeconds"].as_int();
    // A second delete without a wish of its own repeats the first; with one it can only shorten.
    if (!options.grace_seconds && grace > 0) grace = before;
    if (grace >= before) return pod;
    if (const auto planned = api::time_at((*pod)["metadata"]["deletionTimestamp"])) {
      when = *planned - seconds_saturating(before - grace);
    }
  }
  mark_deleting(object, when, grace);
  const ObjectPtr old = table.find_head(api::key_of(*pod));
  return store_change(table, old, std::move(object), mode);
}

Result<ObjectPtr> Core::remove_namespace(Table& table, const ObjectPtr& object, Mode mode) {
  const std::string& name = api::name_of(*object);
  for (const char* immortal : kImmortal) {
    if (name == immortal) {
      return fail(forbidden(table.kind(), name, "this namespace may not be deleted"));
    }
  }
  if (api::is_deleting(*object)) return object;
  json::Value changed = *object;
  changed["metadata"]["deletionTimestamp"] = format_time(loop_.now());
  changed["status"]["phase"] = "Terminating";
  if (mode == Mode::DryRun) return std::make_shared<const json::Value>(std::move(changed));
  return journal_.put(table, std::move(changed));
}

}  // namespace muster::server
