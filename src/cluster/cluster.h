#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/object.h"
#include "api/resource.h"
#include "base/error.h"
#include "json/value.h"
#include "rt/task.h"

namespace muster::cluster {

using api::ObjectKey;
using api::ObjectPtr;
using api::Resource;

struct Selection {
  std::string ns;  // empty: all namespaces
  std::string labels;
  std::string fields;
};

struct ListOptions {
  Selection where;
  int limit = 500;
  std::string continue_token;
};

struct ListPage {
  std::vector<ObjectPtr> items;
  std::string resource_version;
  std::string continue_token;  // empty: this was the last page
};

enum class EventType { Added, Modified, Deleted, Bookmark };

struct WatchEvent {
  EventType type = EventType::Added;
  ObjectPtr object;  // of a bookmark, only metadata.resourceVersion is meaningful
};

struct WatchOptions {
  Selection where;
  std::string resource_version;  // everything after this one
};

// A stream of changes. next() gives them in order; it ends with Gone when the version is too old
// (list again), with Unavailable when the stream was cut (resume after the last version seen).
class Watch {
 public:
  virtual ~Watch() = default;
  virtual Task<Result<WatchEvent>> next() = 0;
};

enum class Propagation { Background, Foreground, Orphan };

struct DeleteOptions {
  std::string uid;  // required by controllers: what was decided on, not what has its name now
  std::string resource_version;  // optional second precondition
  std::optional<int> grace_seconds;
  Propagation propagation = Propagation::Background;
};

struct LogOptions {
  std::string container;  // empty: the only one
  bool follow = false;
  bool previous = false;
  bool timestamps = false;
  std::optional<int> tail_lines;
};

// Chunks of log text; nothing at the end.
class LogStream {
 public:
  virtual ~LogStream() = default;
  virtual Task<Result<std::optional<std::string>>> next() = 0;
};

// A bound service-account token.
struct TokenRequest {
  std::vector<std::string> audiences;
  std::int64_t expiration_seconds = 3600;
  std::string pod_name;  // the pod that it is bound to
  std::string pod_uid;
};
struct Token {
  std::string value;
  std::string expires;  // metav1.Time
};

// A Kubernetes cluster as its API shows it. Lives on one loop and outlives everything that uses it.
// Updates carry metadata.uid and metadata.resourceVersion of what they were decided from.
class Cluster {
 public:
  virtual ~Cluster() = default;

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
