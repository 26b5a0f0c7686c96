#include <fmt/format.h>

#include "api/object.h"
#include "api/pod.h"
#include "json/write.h"
#include "server/core.h"
#include "server/keepers/namespace_keeper.h"
#include "server/rules/account_volume.h"
#include "server/rules/admission.h"
#include "server/rules/service_rules.h"
#include "server/volumes/binding.h"

namespace muster::server {
namespace {

// A generated name that is taken is drawn again; ten million suffixes make more than this a bug.
constexpr int kNameTries = 8;

// Nothing keeps a deleted object any more.
bool may_go(const json::Value& object) {
  return api::is_deleting(object) && object["metadata"]["finalizers"].as_array().empty() &&
         object["metadata"]["deletionGracePeriodSeconds"].as_int() == 0;
}

bool is_larger(const json::Value& object, const json::Value& old) {
  return json::write(object).size() > json::write(old).size();
}

void set_condition(json::Value& object, json::Value condition) {
  json::Value& conditions = object["status"]["conditions"];
  for (json::Value& each : conditions.array()) {
    if (std::as_const(each)["type"] == std::as_const(condition)["type"]) {
      each = std::move(condition);
      return;
    }
  }
  conditions.array().push_back(std::move(condition));
}

}  // namespace

Result<void> Core::admit_namespace(const Kind& kind, const json::Value& object) const {
  if (!kind.resource.namespaced()) return {};
  const std::string& name = api::namespace_of(object);
  const Table& table = journal_.table(api::namespaces());
  const ObjectPtr found = table.find_head({.ns = "", .name = name});
  if (found == nullptr) return fail(not_found(table.kind(), name));
  if (api::is_deleting(*found)) {
    return fail(
        Error{.code = ErrorCode::Forbidden,
              .message = forbidden(kind, api::name_of(object),
                                   fmt::format("unable to create new content in namespace {} "
                                               "because it is being terminated",
                                               name))
                             .message,
              .causes = {{.field = "metadata.namespace",
                          .reason = "NamespaceTerminating",
                          .message = fmt::format("namespace {} is being terminated", name)}},
              .retry_after = std::nullopt});
  }
  return {};
}

Result<void> Core::admit_service_account(const Kind& kind, const json::Value& pod) const {
  const std::string& account = pod["spec"]["serviceAccountName"].as_string();
  const std::string& ns = api::namespace_of(pod);
  const Table& table = journal_.table(api::service_accounts());
  if (table.find_head({.ns = ns, .name = account}) != nullptr) return {};
  return fail(forbidden(
      kind, api::name_of(pod),
      fmt::format("error looking up service account {}/{}: serviceaccount \"{}\" not found", ns,
                  account, account)));
}

// A claim that names no class gets the default one; an empty name means none.
void Core::set_default_class(json::Value& claim) const {
  if (!claim.at_path("spec").is_object() || !claim.at_path("spec.storageClassName").is_null())
    return;
  std::vector<ObjectPtr> classes;
  for (const auto& [key, each] : journal_.table(api::storage_classes()).head())
    classes.push_back(each);
  if (auto name = default_class(classes); !name.empty())
    claim["spec"]["storageClassName"] = std::move(name);
}

void Core::give_token(json::Value& pod) {
  if (root_ca_.empty()) return;  // nobody serves this API to pods
  const ObjectPtr account =
      journal_.table(api::service_accounts())
          .find_head({.ns = api::namespace_of(pod),
                      .name = std::as_const(pod)["spec"]["serviceAccountName"].as_string()});
  if (account != nullptr && wants_account_token(pod, *account)) mount_account_token(pod, rng_);
}

Result<ObjectPtr> Core::create_now(const Kind& kind, json::Value object, Mode mode) {
  if (const auto& failed = journal_.failure()) return fail(*failed);
  TRY(journal_.room());
  TRY(check_shape(kind, object));
  if (!kind.resource.namespaced()) {
    object["metadata"].object().erase("namespace");
  } else if (api::namespace_of(object).empty()) {
    object["metadata"]["namespace"] = "default";
  }
  TRY(admit_namespace(kind, object));
  const bool generated = api::name_of(object).empty();
  TRY(prepare_creation(kind, object, rng_, loop_.now()));
  if (kind.is(api::persistent_volume_claims())) set_default_class(object);
  if (kind.is(api::pods())) give_token(object);
  TRY(validate_creation(kind, object));
  if (kind.is(api::pods())) TRY(admit_service_account(kind, object));

  Table& table = journal_.table(kind);
  for (int tries = 1; table.find_head(api::key_of(object)) != nullptr; ++tries) {
    if (!generated || tries == kNameTries) return fail(already_exists(kind, api::name_of(object)));
    object["metadata"].object().erase("name");
    TRY(prepare_creation(kind, object, rng_, loop_.now()));
  }
  if (kind.is(api::services())) {
    Causes causes;
    assign_address(object, addresses_, causes);
    TRY(causes.verdict(kind.resource.kind, api::name_of(object)));
  }
  if (mode == Mode::DryRun) {
    if (kind.is(api::services())) release_address(object, addresses_);
    return std::make_shared<const json::Value>(std::move(object));
  }
  ObjectPtr made = journal_.put(table, std::move(object));
  if (kind.is(api::namespaces())) furnish_namespace(api::name_of(*made));
  return made;
}

Result<ObjectPtr> Core::update_now(const Kind& kind, json::Value object, Part part, Mode mode) {
  if (const auto& failed = journal_.failure()) return fail(*failed);
  if (part == Part::Status && !kind.has_status) {
    return fail(ErrorCode::NotFound, "the server could not find the requested resource");
  }
  TRY(check_shape(kind, object));
  if (kind.resource.namespaced() && api::namespace_of(object).empty()) {
    object["metadata"]["namespace"] = "default";
  }
  Table& table = journal_.table(kind);
  const ObjectPtr old = table.find_head(api::key_of(object));
  if (old == nullptr) return fail(not_found(kind, api::name_of(object)));
  TRY(check_preconditions(kind, *old, api::uid_of(object), api::resource_version_of(object)));
  if (!kind.unconditional_update && api::resource_version_of(object).empty()) {
    Causes causes;
    causes.invalid("metadata.resourceVersion", 0, "must be specified for an update");
    TRY(causes.verdict(kind.resource.kind, api::name_of(object)));
  }
  json::Value made = part == Part::Status ? TRY(prepare_status_update(kind, *old, object))
                                          : TRY(prepare_update(kind, *old, std::move(object)));
  // Status, what frees something, and what only takes the place of what was there (a Lease) are for
  // what the reserve is kept.
  if (part == Part::Main && journal_.is_low() && !api::is_deleting(*old) && is_larger(made, *old))
    TRY(journal_.room());
  return store_change(table, old, std::move(made), mode);
}

ObjectPtr Core::store_change(Table& table, const ObjectPtr& old, json::Value object, Mode mode) {
  if (may_go(object)) return store_removal(table, std::move(object), mode);
  if (object == *old) return old;  // a write that changes nothing is none
  if (mode == Mode::DryRun) return std::make_shared<const json::Value>(std::move(object));
  return journal_.put(table, std::move(object));
}

ObjectPtr Core::store_removal(Table& table, json::Value object, Mode mode) {
  if (mode == Mode::DryRun) return std::make_shared<const json::Value>(std::move(object));
  return journal_.erase(table, std::move(object));
}

Result<ObjectPtr> Core::bind_now(const ObjectKey& key, const std::string& uid,
                                 const std::string& node) {
  if (const auto& failed = journal_.failure()) return fail(*failed);
  Table& table = journal_.table(api::pods());
  const ObjectPtr old = table.find_head(key);
  if (old == nullptr) return fail(not_found(table.kind(), key.name));
  TRY(check_preconditions(table.kind(), *old, uid, ""));
  if (node.empty()) return fail(ErrorCode::BadRequest, "target.name: Required value: the node");
  if (api::is_deleting(*old)) {
    return fail(
        conflict(table.kind(), key.name,
                 fmt::format("pod {} is being deleted, cannot be assigned to a host", key.name)));
  }
  if (const std::string& bound = api::node_name_of(*old); !bound.empty()) {
    return fail(
        conflict(table.kind(), key.name,
                 fmt::format("pod {} is already assigned to node \"{}\"", key.name, bound)));
  }
  json::Value pod = *old;
  pod["spec"]["nodeName"] = node;
  set_condition(pod, json::Object{{"type", "PodScheduled"},
                                  {"status", "True"},
                                  {"lastProbeTime", nullptr},
                                  {"lastTransitionTime", format_time(loop_.now())}});
  return journal_.put(table, std::move(pod));
}

}  // namespace muster::server
