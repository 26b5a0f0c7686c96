#pragma once

#include <set>
#include <string>

#include "api/object.h"
#include "forwarding_cluster.h"
#include "user.h"

// Mutants of the way to the cluster.
namespace muster::simulation {

class NoUidOnDelete final : public ForwardingCluster {
 public:
  using ForwardingCluster::ForwardingCluster;
  Task<Result<api::ObjectPtr>> remove(const api::Resource& resource, api::ObjectKey key,
                                      cluster::DeleteOptions options) override {
    options.uid.clear();
    return inner_.remove(resource, std::move(key), std::move(options));
  }
};

class ForceDelete final : public ForwardingCluster {
 public:
  using ForwardingCluster::ForwardingCluster;
  Task<Result<api::ObjectPtr>> remove(const api::Resource& resource, api::ObjectKey key,
                                      cluster::DeleteOptions options) override {
    options.grace_seconds = 0;
    return inner_.remove(resource, std::move(key), std::move(options));
  }
};

class NoVersionOnStatus final : public ForwardingCluster {
 public:
  using ForwardingCluster::ForwardingCluster;
  Task<Result<api::ObjectPtr>> update_status(const api::Resource& resource,
                                             json::Value object) override {
    object["metadata"].object().erase("resourceVersion");
    return inner_.update_status(resource, std::move(object));
  }
};

class ConflictAsSuccess final : public ForwardingCluster {
 public:
  using ForwardingCluster::ForwardingCluster;
  Task<Result<api::ObjectPtr>> update_status(const api::Resource& resource,
                                             json::Value object) override {
    const auto sent = std::make_shared<const json::Value>(object);
    auto stored = co_await inner_.update_status(resource, std::move(object));
    if (!stored && stored.error().code == ErrorCode::Conflict) co_return sent;
    co_return stored;
  }
};

class AmbiguousCreateIgnored final : public ForwardingCluster {
 public:
  using ForwardingCluster::ForwardingCluster;
  Task<Result<api::ObjectPtr>> create(const api::Resource& resource, json::Value object) override {
    json::Value imagined = object;
    imagined["metadata"]["uid"] = "imagined " + api::name_of(object);
    imagined["metadata"]["resourceVersion"] = "1000000";
    imagined["spec"]["clusterIP"] = "10.96.0.99";
    auto created = co_await inner_.create(resource, std::move(object));
    if (!created && created.error().code == ErrorCode::Timeout) {
      co_return std::make_shared<const json::Value>(std::move(imagined));
    }
    co_return created;
  }
};

// Whatever has the name is taken for ours.
class AdoptByName final : public ForwardingCluster {
 public:
  using ForwardingCluster::ForwardingCluster;
  Task<Result<api::ObjectPtr>> create(const api::Resource& resource, json::Value object) override {
    if (!api::owners_of(object).empty()) owners_ = object["metadata"]["ownerReferences"];
    return inner_.create(resource, std::move(object));
  }
  Task<Result<api::ObjectPtr>> get(const api::Resource& resource, api::ObjectKey key) override {
    const auto found = CO_TRY(co_await inner_.get(resource, std::move(key)));
    json::Value adopted = *found;
    adopted["metadata"]["ownerReferences"] = owners_;
    adopted["metadata"]["resourceVersion"] = "1000000";
    co_return std::make_shared<const json::Value>(std::move(adopted));
  }

 private:
  json::Value owners_;
};

// 410 passes for the end of a stream, which is resumed where it was.
class ExpiryAsEnd final : public ForwardingCluster {
 public:
  using ForwardingCluster::ForwardingCluster;
  Task<Result<std::unique_ptr<cluster::Watch>>> watch(const api::Resource& resource,
                                                      cluster::WatchOptions options) override {
    auto opened = co_await inner_.watch(resource, std::move(options));
    if (!opened) co_return fail(as_end(opened.error()));
    co_return std::make_unique<Stream>(std::move(*opened));
  }

 private:
  static Error as_end(Error error) {
    if (error.code == ErrorCode::Gone) error.code = ErrorCode::Unavailable;
    return error;
  }
  class Stream final : public cluster::Watch {
   public:
    explicit Stream(std::unique_ptr<cluster::Watch> inner) : inner_(std::move(inner)) {}
    Task<Result<cluster::WatchEvent>> next() override {
      auto event = co_await inner_->next();
      if (!event) co_return fail(as_end(event.error()));
      co_return event;
    }

   private:
    std::unique_ptr<cluster::Watch> inner_;
  };
};

// A resumed watch begins one version too late.
class ResumesTooLate final : public ForwardingCluster {
 public:
  using ForwardingCluster::ForwardingCluster;
  Task<Result<std::unique_ptr<cluster::Watch>>> watch(const api::Resource& resource,
                                                      cluster::WatchOptions options) override {
    if (!opened_.insert(resource).second) {
      options.resource_version = std::to_string(std::stoll(options.resource_version) + 1);
    }
    return inner_.watch(resource, std::move(options));
  }

 private:
  std::set<api::Resource> opened_;
};

// What is there already is replaced by what was asked for.
class MakesKeysAnew final : public ForwardingCluster {
 public:
  using ForwardingCluster::ForwardingCluster;
  Task<Result<api::ObjectPtr>> create(const api::Resource& resource, json::Value object) override {
    const api::ObjectKey key = api::key_of(object);
    const json::Value again = object;
    auto created = co_await inner_.create(resource, std::move(object));
    const bool taken = !created && created.error().code == ErrorCode::AlreadyExists;
    if (!taken || resource != api::secrets()) co_return created;
    CO_TRY(co_await inner_.remove(resource, key, {}));
    co_return co_await inner_.create(resource, again);
  }
};

class OwnerWithoutUid final : public ForwardingCluster {
 public:
  using ForwardingCluster::ForwardingCluster;
  Task<Result<api::ObjectPtr>> create(const api::Resource& resource, json::Value object) override {
    for (json::Value& owner : object["metadata"]["ownerReferences"].array()) owner["uid"] = "";
    return inner_.create(resource, std::move(object));
  }
};

// Whoever has the name of a new pod has to make room at once.
class ForcesItsWay final : public ForwardingCluster {
 public:
  using ForwardingCluster::ForwardingCluster;
  Task<Result<api::ObjectPtr>> create(const api::Resource& resource, json::Value object) override {
    const api::ObjectKey key = api::key_of(object);
    const json::Value again = object;
    auto created = co_await inner_.create(resource, std::move(object));
    const bool taken = !created && created.error().code == ErrorCode::AlreadyExists;
    if (!taken || resource != api::pods()) co_return created;
    const auto other = CO_TRY(co_await inner_.get(resource, key));
    CO_TRY(co_await inner_.remove(resource, key, {.uid = api::uid_of(*other), .grace_seconds = 0}));
    co_return co_await inner_.create(resource, again);
  }
};

// A job has the pods whose names begin with its own.
class OwnsByPrefix final : public ForwardingCluster {
 public:
  using ForwardingCluster::ForwardingCluster;
  Task<Result<api::ObjectPtr>> create(const api::Resource& resource, json::Value object) override {
    for (const api::OwnerReference& owner : api::owners_of(object)) {
      if (owner.name == kJob) owners_ = object["metadata"]["ownerReferences"];
    }
    return inner_.create(resource, std::move(object));
  }
  Task<Result<std::unique_ptr<cluster::Watch>>> watch(const api::Resource& resource,
                                                      cluster::WatchOptions options) override {
    auto opened = CO_TRY(co_await inner_.watch(resource, std::move(options)));
    if (resource != api::pods()) co_return opened;
    co_return std::make_unique<Stream>(*this, std::move(opened));
  }

 private:
  class Stream final : public cluster::Watch {
   public:
    Stream(OwnsByPrefix& of, std::unique_ptr<cluster::Watch> inner)
        : of_(of), inner_(std::move(inner)) {}
    Task<Result<cluster::WatchEvent>> next() override {
      auto event = CO_TRY(co_await inner_->next());
      if (!of_.owners_.is_null() && api::name_of(*event.object).starts_with(kJob)) {
        json::Value owned = *event.object;
        owned["metadata"]["ownerReferences"] = of_.owners_;
        event.object = std::make_shared<const json::Value>(std::move(owned));
      }
      co_return event;
    }

   private:
    OwnsByPrefix& of_;
    std::unique_ptr<cluster::Watch> inner_;
  };
  json::Value owners_;
};

}  // namespace muster::simulation
