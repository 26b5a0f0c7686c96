#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/error.h"
#include "base/log.h"
#include "base/random.h"
#include "base/secret.h"
#include "json/value.h"
#include "plan/dialect.h"
#include "rt/loop.h"
#include "rt/task.h"
#include "server/access/token.h"
#include "server/kinds.h"
#include "server/rules/addresses.h"
#include "server/store/journal.h"
#include "server/store/store.h"
#include "server/types.h"

namespace muster::server {

class GarbageCollector;
class EventExpiry;
class NamespaceKeeper;
class VolumeDirectories;
class VolumeKeeper;

// The API server without its wire: decode → default → validate → admit → store → watch, and the
// small controllers that belong to an API server (owner garbage collection, namespaces, event
// expiry, volumes). Lives on one loop. Every answer of a write, refusals included, is given when
// all it rests on is durable; reads show only what is durable. Ends with close().
class Core {
 public:
  struct Options {
    rt::Loop& loop;
    Rng& rng;
    const plan::Registry& registry;
    std::string service_range = "10.96.0.0/16";
    // PEM of who signs the API's certificate. When given, every namespace has it in a ConfigMap
    // kube-root-ca.crt, and pods are given a token, as on every cluster.
    std::string root_ca;
    Secret token_key;                      // PEM, read when it is needed; without: one is made then
    VolumeDirectories* volumes = nullptr;  // none: nothing is made for claims
    std::string own_node;                  // this machine as a node, which cannot be deleted
    Logger log;
  };

  static Result<std::unique_ptr<Core>> create(Options options, std::unique_ptr<Store> store);
  Core(const Core&) = delete;
  Core& operator=(const Core&) = delete;
  ~Core();

  // Makes what every cluster has (namespaces, service accounts, service kubernetes) and starts the
  // controllers.
  Task<Result<void>> start();
  Task<void> close();

  [[nodiscard]] const Kinds& kinds() const { return kinds_; }
  [[nodiscard]] rt::Loop& loop() const { return loop_; }
  // Set once the store has failed: nothing is written any more.
  [[nodiscard]] const std::optional<Error>& failure() const { return journal_.failure(); }
  // Pulsed when writes became visible.
  [[nodiscard]] rt::Event& progress() { return journal_.progress(); }
  void set_log_source(LogSource* source) { log_source_ = source; }
  void set_program_source(ProgramSource* source) { program_source_ = source; }

  Task<Result<ListPage>> list(const Kind& kind, ListOptions options);
  Result<std::unique_ptr<Watcher>> watch(const Kind& kind, WatchOptions options);
  Result<ObjectPtr> get(const Kind& kind, const ObjectKey& key) const;
  [[nodiscard]] WatchHub& watches() { return journal_.hub(); }
  // All of a kind, as readers see them.
  [[nodiscard]] const Table::Objects& objects(const api::Resource& resource) const {
    return journal_.table(resource).seen();
  }

  Task<Result<ObjectPtr>> create(const Kind& kind, json::Value object, Mode mode = Mode::Store);
  Task<Result<ObjectPtr>> update(const Kind& kind, json::Value object, Mode mode = Mode::Store);
  Task<Result<ObjectPtr>> update_status(const Kind& kind, json::Value object,
                                        Mode mode = Mode::Store);
  Task<Result<ObjectPtr>> remove(const Kind& kind, ObjectKey key, DeleteOptions options,
                                 Mode mode = Mode::Store);
  // Reads, changes and writes in one step: nothing can come in between.
  enum class Part { Main, Status };
  using Edit = std::function<Result<json::Value>(const json::Value&)>;
  Task<Result<ObjectPtr>> edit(const Kind& kind, ObjectKey key, Part part, Edit change,
                               Mode mode = Mode::Store);

  Task<Result<void>> bind(ObjectKey pod, std::string pod_uid, std::string node);
  Task<Result<Token>> create_token(ObjectKey service_account, TokenRequest request);
  // Unauthorized unless the token is one of ours for this API, in force, and its service account
  // and the pod that it is bound to are still those that it was made for.
  [[nodiscard]] Result<TokenClaims> verify_token(std::string_view token) const;
  Task<Result<std::unique_ptr<LogStream>>> log(ObjectKey pod, LogOptions options);
  // A program to be run, and the pod in which it can be.
  struct PlacedProgram {
    ObjectPtr pod;
    ExecOptions options;
  };
  // Names the container where the options do not. NotFound, BadRequest.
  [[nodiscard]] Result<PlacedProgram> place_program(const ObjectKey& pod,
                                                    ExecOptions options) const;
  Task<Result<std::unique_ptr<rt::RemoteProgram>>> exec(PlacedProgram program);

 private:
  friend class GarbageCollector;
  friend class EventExpiry;
  friend class NamespaceKeeper;
  friend class VolumeKeeper;

  Core(Options options, Addresses addresses, std::unique_ptr<Store> store);

  // The decisions behind the calls above: at once, on the newest state.
  Result<ObjectPtr> create_now(const Kind& kind, json::Value object, Mode mode);
  Result<ObjectPtr> update_now(const Kind& kind, json::Value object, Part part, Mode mode);
  Result<ObjectPtr> remove_now(const Kind& kind, const ObjectKey& key, const DeleteOptions& options,
                               Mode mode);
  Result<ObjectPtr> remove_pod(Table& table, const ObjectPtr& pod, const DeleteOptions& options,
                               Mode mode);
  Result<ObjectPtr> remove_namespace(Table& table, const ObjectPtr& object, Mode mode);
  Result<ObjectPtr> bind_now(const ObjectKey& pod, const std::string& uid, const std::string& node);
  Result<Token> create_token_now(const ObjectKey& service_account, const TokenRequest& request);

  Result<void> admit_namespace(const Kind& kind, const json::Value& object) const;
  void set_default_class(json::Value& claim) const;
  Result<void> admit_service_account(const Kind& kind, const json::Value& pod) const;
  // Stores what `object` is now: gone, when nothing holds a deleted one any more.
  ObjectPtr store_change(Table& table, const ObjectPtr& old, json::Value object, Mode mode);
  ObjectPtr store_removal(Table& table, json::Value object, Mode mode);
  Result<net::SigningKey> token_key() const;
  void give_token(json::Value& pod);
  void furnish_namespace(const std::string& name);
  void seed();
  Task<Result<void>> wait_until_seen(Version version);
  // What a keeper did is durable; or it is not, as the disk is full, and some time has passed.
  // Cancelled and the like when it should end.
  enum class Kept { Durable, TakenBack };
  Task<Result<Kept>> kept();
  Result<ListPage> page_of(const Table& table, const ListOptions& options) const;
  Result<Table::Objects> objects_at(const Table& table, const ListOptions& options,
                                    Version& version, ObjectKey& after) const;

  rt::Loop& loop_;
  Rng& rng_;
  Logger log_;
  std::string root_ca_;
  std::string own_node_;
  Secret token_key_pem_;
  mutable std::optional<net::SigningKey> token_key_;  // once it was needed
  Kinds kinds_;
  Addresses addresses_;
  std::unique_ptr<Store> store_;
  Journal journal_;
  LogSource* log_source_ = nullptr;
  ProgramSource* program_source_ = nullptr;
  std::unique_ptr<GarbageCollector> collector_;
  std::unique_ptr<NamespaceKeeper> namespaces_;
  std::unique_ptr<EventExpiry> expiry_;
  std::unique_ptr<VolumeKeeper> volumes_;
};

}  // namespace muster::server
