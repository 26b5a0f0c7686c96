#pragma once

#include <functional>
#include <string>

#include "api/object.h"
#include "cluster/cluster.h"
#include "rt/wait.h"

namespace muster::cluster {

// A cluster that keeps Leases as an API server does: conditional updates, versions that grow.
// What a test wants to go wrong goes through `fault`.
class LeaseCluster final : public Cluster {
 public:
  explicit LeaseCluster(rt::Loop& loop) : loop_(loop) {}

  enum class Fault { None, LostBefore, LostAfter, Hangs };
  std::function<Fault(const json::Value* written)> fault = [](const json::Value*) {
    return Fault::None;
  };
  ObjectPtr lease;
  Duration latency = std::chrono::milliseconds(5);
  int writes = 0;

  Task<Result<ObjectPtr>> get(const Resource&, ObjectKey) override {
    CO_TRY(co_await travel(fault(nullptr)));
    if (!lease) co_return fail(ErrorCode::NotFound, "leases \"x\" not found");
    co_return lease;
  }
  Task<Result<ObjectPtr>> create(const Resource&, json::Value object) override {
    return write(std::move(object), true);
  }
  Task<Result<ObjectPtr>> update(const Resource&, json::Value object) override {
    return write(std::move(object), false);
  }

  Task<Result<ListPage>> list(const Resource&, ListOptions) override { co_return unused(); }
  Task<Result<std::unique_ptr<Watch>>> watch(const Resource&, WatchOptions) override {
    co_return unused();
  }
  Task<Result<ObjectPtr>> update_status(const Resource&, json::Value) override {
    co_return unused();
  }
  Task<Result<ObjectPtr>> remove(const Resource&, ObjectKey, DeleteOptions) override {
    co_return unused();
  }
  Task<Result<void>> bind(ObjectKey, std::string, std::string) override { co_return unused(); }
  Task<Result<Token>> create_token(ObjectKey, TokenRequest) override { co_return unused(); }
  Task<Result<std::unique_ptr<LogStream>>> log(ObjectKey, LogOptions) override {
    co_return unused();
  }

 private:
  static std::unexpected<Error> unused() {
    return fail(ErrorCode::MethodNotAllowed, "leases only");
  }

  Task<Result<void>> travel(Fault on_the_way) {
    const bool hangs = on_the_way == Fault::Hangs;
    CO_TRY(co_await rt::sleep_for(loop_, hangs ? std::chrono::hours(1) : latency));
    if (on_the_way == Fault::LostBefore)
      co_return fail(ErrorCode::Unavailable, "connection refused");
    co_return Result<void>{};
  }

  Task<Result<ObjectPtr>> write(json::Value object, bool creates) {
    const Fault on_the_way = fault(&object);
    CO_TRY(co_await travel(on_the_way));
    if (creates && lease) co_return fail(ErrorCode::AlreadyExists, "exists");
    if (!creates && !lease) co_return fail(ErrorCode::NotFound, "not found");
    if (!creates && api::resource_version_of(object) != api::resource_version_of(*lease)) {
      co_return fail(ErrorCode::Conflict, "the object has been modified");
    }
    object["metadata"]["resourceVersion"] = std::to_string(++version_);
    lease = std::make_shared<const json::Value>(std::move(object));
    ++writes;
    if (on_the_way == Fault::LostAfter) co_return fail(ErrorCode::Unavailable, "connection reset");
    co_return lease;
  }

  rt::Loop& loop_;
  int version_ = 100;
};

}  // namespace muster::cluster
