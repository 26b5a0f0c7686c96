#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api/resource.h"
#include "base/time.h"

// What is asked of a Kubernetes API and what it answers, as values. The embedded server takes them,
// both clusters carry them.
namespace muster::api {

struct Selection {
  std::string ns;  // empty: all namespaces
  std::string labels;
  std::string fields;
};

struct ListOptions {
  Selection where;
  int limit = 500;  // objects in one page; 0: everything at once
  std::string continue_token;
  std::string resource_version;        // "" and "0": what is there now
  std::string resource_version_match;  // "", Exact, NotOlderThan
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
  // Everything after this one; "" and "0": the present state as Added, then changes.
  std::string resource_version;
  bool bookmarks = true;
  bool initial_events = false;  // sendInitialEvents: the present state, then a marked bookmark
};

enum class Propagation { Background, Foreground, Orphan };

struct DeleteOptions {
  std::string uid;  // required by controllers: what was decided on, not what has its name now
  std::string resource_version;  // optional second precondition
  std::optional<std::int64_t> grace_seconds;
  Propagation propagation = Propagation::Background;
};

struct LogOptions {
  std::string container;  // empty: the only one
  bool follow = false;
  bool previous = false;
  bool timestamps = false;
  std::optional<std::int64_t> tail_lines;
  std::optional<std::int64_t> limit_bytes;
  std::optional<std::int64_t> since_seconds;
  std::optional<Time> since_time;
};

// A program to be run inside a container that runs.
struct ExecOptions {
  std::string container;  // empty: the pod's default one
  std::vector<std::string> command;
  bool input = false;
  bool output = false;
  bool error = false;
  bool terminal = false;
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

}  // namespace muster::api
