#pragma once

#include <string>

#include "base/random.h"
#include "base/time.h"
#include "json/value.h"

namespace muster::api {

// Which object an event is about.
struct ObjectReference {
  std::string api_version;
  std::string kind;
  std::string ns;  // empty for cluster-scoped kinds
  std::string name;
  std::string uid;
  std::string resource_version;  // optional
  std::string field_path;        // optional: a part of it, spec.containers{main}

  static ObjectReference of(const json::Value& object);
};

enum class EventSeverity { Normal, Warning };

struct EventContent {
  ObjectReference about;
  EventSeverity severity = EventSeverity::Normal;
  std::string reason;
  std::string message;
  std::string component;  // who says it
  std::string host;       // and where; may be empty
};

// What a reader may be shown: printable, and not longer than an event's message may be; cut between
// two characters.
std::string event_message(std::string_view text);

// A core/v1 Event that happened once, now, under a name of its own.
json::Value make_event(const EventContent& content, Time now, Rng& rng);

}  // namespace muster::api
