#include "server/core.h"

#include <algorithm>

#include <fmt/format.h>

#include "api/exec.h"
#include "api/object.h"
#include "api/pod.h"
#include "base/strings.h"
#include "server/keepers/event_expiry.h"
#include "server/keepers/garbage_collector.h"
#include "server/keepers/namespace_keeper.h"
#include "server/keepers/volume_keeper.h"
#include "server/rules/admission.h"
#include "server/rules/service_rules.h"

namespace muster::server {
namespace {

constexpr Duration kFullDiskPause = std::chrono::seconds(1);

}  // namespace

Result<std::unique_ptr<Core>> Core::create(Options options, std::unique_ptr<Store> store) {
  Addresses addresses = TRY(Addresses::create(options.service_range));
  return std::unique_ptr<Core>(
      new Core(std::move(options), std::move(addresses), std::move(store)));
}

Core::Core(Options options, Addresses addresses, std::unique_ptr<Store> store)
    : loop_(options.loop),
      rng_(options.rng),
      log_(options.log.named("server")),
      root_ca_(std::move(options.root_ca)),
      own_node_(std::move(options.own_node)),
      token_key_pem_(std::move(options.token_key)),
      kinds_(options.registry),
      addresses_(std::move(addresses)),
      store_(std::move(store)),
      journal_(loop_, kinds_, *store_, options.log),
      collector_(std::make_unique<GarbageCollector>(*this)),
      namespaces_(std::make_unique<NamespaceKeeper>(*this)),
      expiry_(std::make_unique<EventExpiry>(*this)),
      volumes_(std::make_unique<VolumeKeeper>(*this, options.volumes)) {
  for (const auto& [key, service] : journal_.table(api::services()).head()) {
    addresses_.take((*service)["spec"]["clusterIP"].as_string());
  }
  journal_.listen([this](Table& table, const ObjectPtr& before, const ObjectPtr& after) {
    collector_->note(table, before, after);
    namespaces_->note(table, before, after);
    expiry_->note(table);
    volumes_->note(table, before, after);
    if (!table.kind().is(api::services())) return;
    if (after == nullptr) release_address(*before, addresses_);
    // Taken already, unless its deletion was taken back.
    if (before == nullptr) addresses_.take((*after)["spec"]["clusterIP"].as_string());
  });
}

Core::~Core() = default;

Task<Result<void>> Core::start() {
  seed();
  CO_TRY(co_await journal_.settled());
  collector_->start();
  namespaces_->start();
  expiry_->start();
  volumes_->start();
  co_return Result<void>{};
}

Task<void> Core::close() {
  journal_.end_watches();
  co_await collector_->close();
  co_await namespaces_->close();
  co_await expiry_->close();
  co_await volumes_->close();
  co_await store_->close();
}

Task<Result<Core::Kept>> Core::kept() {
  const auto settled = co_await journal_.settled();
  if (settled) co_return Kept::Durable;
  if (settled.error().code != ErrorCode::InsufficientStorage) co_return fail(settled.error());
  CO_TRY(co_await rt::sleep_for(loop_, kFullDiskPause));
  co_return Kept::TakenBack;
}

// What every cluster has. Only what is missing is made, so a restart writes nothing.
void Core::seed() {
  const Kind& kind = *kinds_.find(api::namespaces());
  for (const char* name : {"default", "kube-system", "kube-public", "kube-node-lease"}) {
    if (journal_.table(kind).find_head({.ns = "", .name = name}) == nullptr) {
      json::Value object;
      object["metadata"]["name"] = name;
      CHECK(create_now(kind, std::move(object), Mode::Store).has_value());
    }
    furnish_namespace(name);
  }
  volumes_->seed();
  const Kind& services = *kinds_.find(api::services());
  if (journal_.table(services).find_head({.ns = "default", .name = "kubernetes"}) != nullptr)
    return;
  json::Value service;
  service["metadata"] = json::Object{
      {"name", "kubernetes"},
      {"namespace", "default"},
      {"labels", json::Object{{"component", "apiserver"}, {"provider", "kubernetes"}}}};
  service["spec"] = json::Object{
      {"clusterIP", addresses_.first()},
      {"ports", json::Array{json::Object{{"name", "https"}, {"port", 443}, {"targetPort", 6443}}}}};
  if (const auto made = create_now(services, std::move(service), Mode::Store); !made) {
    log_.warning("service default/kubernetes: {}", made.error().message);
  }
}

void Core::furnish_namespace(const std::string& name) {
  const auto make = [&](const api::Resource& resource, const char* object_name,
                        json::Value object) {
    const Kind& kind = *kinds_.find(resource);
    const ObjectPtr old = journal_.table(kind).find_head({.ns = name, .name = object_name});
    if (old != nullptr && ((*old)["data"] == std::as_const(object)["data"])) return;
    if (old != nullptr) {  // of an authority that is no more
      json::Value renewed = *old;
      renewed["data"] = std::as_const(object)["data"];
      journal_.put(journal_.table(kind), std::move(renewed));
      return;
    }
    object["metadata"] = json::Object{{"name", object_name}, {"namespace", name}};
    [[maybe_unused]] const auto made = create_now(kind, std::move(object), Mode::Store);
  };
  make(api::service_accounts(), "default", json::Object());
  if (root_ca_.empty()) return;
  make(api::config_maps(), "kube-root-ca.crt",
       json::Object{{"data", json::Object{{"ca.crt", root_ca_}}}});
}

Task<Result<ObjectPtr>> Core::create(const Kind& kind, json::Value object, Mode mode) {
  auto made = create_now(kind, std::move(object), mode);
  CO_TRY(co_await journal_.settled());
  co_return made;
}

Task<Result<ObjectPtr>> Core::update(const Kind& kind, json::Value object, Mode mode) {
  auto made = update_now(kind, std::move(object), Part::Main, mode);
  CO_TRY(co_await journal_.settled());
  co_return made;
}

Task<Result<ObjectPtr>> Core::update_status(const Kind& kind, json::Value object, Mode mode) {
  auto made = update_now(kind, std::move(object), Part::Status, mode);
  CO_TRY(co_await journal_.settled());
  co_return made;
}

Task<Result<ObjectPtr>> Core::remove(const Kind& kind, ObjectKey key, DeleteOptions options,
                                     Mode mode) {
  auto made = remove_now(kind, key, options, mode);
  CO_TRY(co_await journal_.settled());
  co_return made;
}

Task<Result<ObjectPtr>> Core::edit(const Kind& kind, ObjectKey key, Part part, Edit change,
                                   Mode mode) {
  const ObjectPtr old = journal_.table(kind).find_head(key);
  Result<ObjectPtr> made = fail(not_found(kind, key.name));
  if (old != nullptr) {
    auto changed = change(*old);
    made = changed ? update_now(kind, std::move(*changed), part, mode) : fail(changed.error());
  }
  CO_TRY(co_await journal_.settled());
  co_return made;
}

Task<Result<void>> Core::bind(ObjectKey pod, std::string pod_uid, std::string node) {
  const auto made = bind_now(pod, pod_uid, node);
  CO_TRY(co_await journal_.settled());
  if (!made) co_return fail(made.error());
  co_return Result<void>{};
}

Task<Result<Token>> Core::create_token(ObjectKey service_account, TokenRequest request) {
  auto made = create_token_now(service_account, request);
  CO_TRY(co_await journal_.settled());
  co_return made;
}

Task<Result<std::unique_ptr<LogStream>>> Core::log(ObjectKey pod, LogOptions options) {
  const ObjectPtr object = journal_.table(api::pods()).find_seen(pod);
  if (object == nullptr) co_return fail(not_found(*kinds_.find(api::pods()), pod.name));
  std::vector<std::string> names;
  for (const char* list : {"containers", "initContainers"}) {
    for (const json::Value& container : (*object)["spec"][list].as_array()) {
      names.push_back(container["name"].as_string());
    }
  }
  if (options.container.empty()) {
    const std::string& preferred =
        api::annotation_of(*object, "kubectl.kubernetes.io/default-container");
    if ((*object)["spec"]["containers"].as_array().size() > 1 && preferred.empty()) {
      co_return fail(
          ErrorCode::BadRequest,
          fmt::format("a container name must be specified for pod {}, choose one of: [{}]",
                      pod.name, join(names, " ")));
    }
    options.container = preferred.empty() ? names.front() : preferred;
  }
  if (std::ranges::find(names, options.container) == names.end()) {
    co_return fail(ErrorCode::BadRequest, fmt::format("container {} is not valid for pod {}",
                                                      options.container, pod.name));
  }
  if (log_source_ == nullptr) {
    co_return fail(ErrorCode::Unavailable, "no node of this server keeps logs");
  }
  co_return co_await log_source_->open(object, std::move(options));
}

Result<Core::PlacedProgram> Core::place_program(const ObjectKey& pod, ExecOptions options) const {
  ObjectPtr object = journal_.table(api::pods()).find_seen(pod);
  if (object == nullptr) return fail(not_found(*kinds_.find(api::pods()), pod.name));
  options.container = TRY(api::exec_container(*object, options.container));
  return PlacedProgram{.pod = std::move(object), .options = std::move(options)};
}

Task<Result<std::unique_ptr<rt::RemoteProgram>>> Core::exec(PlacedProgram program) {
  if (program_source_ == nullptr) {
    co_return fail(ErrorCode::Unavailable, "no node of this server runs programs");
  }
  co_return co_await program_source_->open(std::move(program.pod), std::move(program.options));
}

}  // namespace muster::server
