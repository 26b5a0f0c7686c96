#pragma once

#include <memory>
#include <optional>
#include <string>

#include "api/object.h"
#include "api/requests.h"
#include "api/resource.h"
#include "base/error.h"
#include "json/value.h"
#include "rt/source.h"
#include "rt/task.h"

namespace muster::cluster {

using api::DeleteOptions;
using api::EventType;
using api::ListOptions;
using api::ListPage;
using api::LogOptions;
using api::ObjectKey;
using api::ObjectPtr;
using api::Propagation;
using api::Resource;
using api::Selection;
using api::Token;
using api::TokenRequest;
using api::WatchEvent;
using api::WatchOptions;

// A stream of changes. next() gives them in order; it ends with Gone when the version is too old
// (list again), with Unavailable when the stream was cut (resume after the last version seen).
using Watch = rt::Source<WatchEvent>;

// Chunks of log text; nothing at the end.
using LogStream = rt::Source<std::optional<std::string>>;

// A Kubernetes cluster as its API shows it. Lives on one loop and outlives everything that uses it.
// Updates carry metadata.uid and metadata.resourceVersion of what they were decided from.
class Cluster {
 public:
  virtual ~Cluster() = default;

  // TooLarge when the page is more than we read: ask again with a lower limit.
  virtual Task<Result<ListPage>> list(const Resource& resource, ListOptions options) = 0;
  virtual Task<Result<std::unique_ptr<Watch>>> watch(const Resource& resource,
                                                     WatchOptions options) = 0;
  virtual Task<Result<ObjectPtr>> get(const Resource& resource, ObjectKey key) = 0;
  // The object says its own name (or generateName) and namespace.
  virtual Task<Result<ObjectPtr>> create(const Resource& resource, json::Value object) = 0;
  virtual Task<Result<ObjectPtr>> update(const Resource& resource, json::Value object) = 0;
  virtual Task<Result<ObjectPtr>> update_status(const Resource& resource, json::Value object) = 0;
  // What is left: the object with its deletionTimestamp while it lives on, or as it was when it
  // went.
  virtual Task<Result<ObjectPtr>> remove(const Resource& resource, ObjectKey key,
                                         DeleteOptions options) = 0;

  virtual Task<Result<void>> bind(ObjectKey pod, std::string pod_uid, std::string node) = 0;
  virtual Task<Result<Token>> create_token(ObjectKey service_account, TokenRequest request) = 0;
  virtual Task<Result<std::unique_ptr<LogStream>>> log(ObjectKey pod, LogOptions options) = 0;
};

}  // namespace muster::cluster
