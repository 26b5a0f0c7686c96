#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/resource.h"
#include "base/error.h"
#include "rt/task.h"

// What goes in and out of the API server core. The HTTP front and cluster/local both speak this.
namespace muster::server {

using api::ObjectKey;
using api::ObjectPtr;

struct Selection {
  std::string ns;  // empty: all namespaces
  std::string labels;
  std::string fields;
};

struct ListOptions {
  Selection where;
  int limit = 0;  // 0: everything
  std::string continue_token;
  std::string resource_version;        // "" and "0": what is there now
  std::string resource_version_match;  // "", Exact, NotOlderThan
};

struct ListPage {
  std::vector<ObjectPtr> items;
  std::string resource_version;
  std::string continue_token;
  std::optional<std::int64_t> remaining;
};

enum class EventType { Added, Modified, Deleted, Bookmark };

struct WatchEvent {
  EventType type = EventType::Added;
  ObjectPtr object;
};

struct WatchOptions {
  Selection where;
  std::string resource_version;  // "" and "0": the present state as Added, then changes
  bool bookmarks = false;
  bool initial_events = false;  // sendInitialEvents: the present state, then a marked bookmark
};

// Changes in order. Ends with Gone when it fell too far behind, with Unavailable when the server
// closes.
class Watch {
 public:
  virtual ~Watch() = default;
  virtual Task<Result<WatchEvent>> next() = 0;
  // A bookmark of how far the reader has come.
  [[nodiscard]] virtual WatchEvent mark() const = 0;
};

enum class Propagation { Background, Foreground, Orphan };

struct DeleteOptions {
  std::string uid;
  std::string resource_version;
  std::optional<std::int64_t> grace_seconds;
  Propagation propagation = Propagation::Background;
};

// Whether a write is stored, or only checked and answered (dryRun=All).
enum class Mode { Store, DryRun };

struct LogOptions {
  std::string container;
  bool follow = false;
  bool previous = false;
  bool timestamps = false;
  std::optional<std::int64_t> tail_lines;
  std::optional<std::int64_t> limit_bytes;
  std::optional<std::int64_t> since_seconds;
};

// Chunks of log text; nothing at the end.
class LogStream {
 public:
  virtual ~LogStream() = default;
  virtual Task<Result<std::optional<std::string>>> next() = 0;
};

// Where the logs of a pod are read from; the node agent implements it.
class LogSource {
 public:
  virtual ~LogSource() = default;
  // `options.container` is set.
  virtual Task<Result<std::unique_ptr<LogStream>>> open(ObjectPtr pod, LogOptions options) = 0;
};

struct TokenRequest {
  std::vector<std::string> audiences;
  std::int64_t expiration_seconds = 3600;
  std::string pod_name;
  std::string pod_uid;
};
struct Token {
  std::string value;
  std::string expires;
};

}  // namespace muster::server
