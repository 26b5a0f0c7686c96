#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "base/error.h"

// libyaml's parser as a stream of events that own what they hold.
namespace muster::yaml {

// A place in the text, counted from 1.
struct Position {
  std::size_t line = 1;
  std::size_t column = 1;
};

enum class EventType {
  StreamStart,
  StreamEnd,
  DocumentStart,
  DocumentEnd,
  Alias,
  Scalar,
  SequenceStart,
  SequenceEnd,
  MappingStart,
  MappingEnd
};

struct Event {
  EventType type = EventType::StreamEnd;
  Position at;
  std::string anchor;  // of a node; of an alias, what it refers to
  std::string tag;     // in its long form; empty when there is none
  std::string text;    // of a scalar
  bool plain = false;  // a scalar without quotes or block marker
};

// "line 12, column 3: text"
std::unexpected<Error> fail_at(Position at, ErrorCode code, std::string_view text);

// Reads events from `text`, which outlives it. After an error or StreamEnd there is nothing more to
// ask.
class EventReader {
 public:
  explicit EventReader(std::string_view text);
  EventReader(const EventReader&) = delete;
  EventReader& operator=(const EventReader&) = delete;
  ~EventReader();

  Result<Event> next();

 private:
  struct Parser;
  [[nodiscard]] Error error() const;

  std::string_view text_;
  std::unique_ptr<Parser> parser_;
};

}  // namespace muster::yaml
