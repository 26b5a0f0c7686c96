#include "yaml/events.h"

#include <yaml.h>

#include <algorithm>

#include <fmt/format.h>

#include "base/check.h"

namespace muster::yaml {
namespace {

Position position_of(const yaml_mark_t& mark) {
  return {.line = mark.line + 1, .column = mark.column + 1};
}

// Of a byte: libyaml's own marks do not cover what it could not even decode.
Position position_of(std::string_view text, std::size_t offset) {
  const auto before = text.substr(0, offset);
  const auto line_begin = before.rfind('\n') + 1;  // npos + 1 is 0
  return {.line = static_cast<std::size_t>(std::ranges::count(before, '\n')) + 1,
          .column = before.size() - line_begin + 1};
}

std::string text_of(const yaml_char_t* text) {
  return text == nullptr ? std::string() : std::string(reinterpret_cast<const char*>(text));
}

Event convert(const yaml_event_t& raw) {
  Event event{.at = position_of(raw.start_mark)};
  switch (raw.type) {
    case YAML_STREAM_START_EVENT:
      event.type = EventType::StreamStart;
      break;
    case YAML_DOCUMENT_START_EVENT:
      event.type = EventType::DocumentStart;
      break;
    case YAML_DOCUMENT_END_EVENT:
      event.type = EventType::DocumentEnd;
      break;
    case YAML_ALIAS_EVENT:
      event.type = EventType::Alias;
      event.anchor = text_of(raw.data.alias.anchor);
      break;
    case YAML_SCALAR_EVENT:
      event.type = EventType::Scalar;
      event.anchor = text_of(raw.data.scalar.anchor);
      event.tag = text_of(raw.data.scalar.tag);
      event.text.assign(reinterpret_cast<const char*>(raw.data.scalar.value),
                        raw.data.scalar.length);
      event.plain =
          raw.data.scalar.plain_implicit != 0 && raw.data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
      break;
    case YAML_SEQUENCE_START_EVENT:
      event.type = EventType::SequenceStart;
      event.anchor = text_of(raw.data.sequence_start.anchor);
      event.tag = text_of(raw.data.sequence_start.tag);
      break;
    case YAML_SEQUENCE_END_EVENT:
      event.type = EventType::SequenceEnd;
      break;
    case YAML_MAPPING_START_EVENT:
      event.type = EventType::MappingStart;
      event.anchor = text_of(raw.data.mapping_start.anchor);
      event.tag = text_of(raw.data.mapping_start.tag);
      break;
    case YAML_MAPPING_END_EVENT:
      event.type = EventType::MappingEnd;
      break;
    default:
      event.type = EventType::StreamEnd;
  }
  return event;
}

}  // namespace

std::unexpected<Error> fail_at(Position at, ErrorCode code, std::string_view text) {
  return fail(code, fmt::format("line {}, column {}: {}", at.line, at.column, text));
}

struct EventReader::Parser {
  yaml_parser_t raw{};
};

EventReader::EventReader(std::string_view text) : text_(text), parser_(std::make_unique<Parser>()) {
  CHECK(yaml_parser_initialize(&parser_->raw) != 0);  // fails only for want of memory
  yaml_parser_set_encoding(&parser_->raw, YAML_UTF8_ENCODING);
  yaml_parser_set_input_string(&parser_->raw, reinterpret_cast<const unsigned char*>(text.data()),
                               text.size());
}

EventReader::~EventReader() {
  yaml_parser_delete(&parser_->raw);
}

Result<Event> EventReader::next() {
  yaml_event_t raw;
  if (yaml_parser_parse(&parser_->raw, &raw) == 0) return fail(error());
  Event event = convert(raw);
  yaml_event_delete(&raw);
  return event;
}

Error EventReader::error() const {
  const yaml_parser_t& parser = parser_->raw;
  if (parser.error == YAML_MEMORY_ERROR) {
    return {.code = ErrorCode::Internal, .message = "out of memory while reading YAML"};
  }
  const std::string problem = parser.problem == nullptr ? "not YAML" : parser.problem;
  if (parser.error == YAML_READER_ERROR) {
    const auto at = position_of(text_, std::min(parser.problem_offset, text_.size()));
    return fail_at(at, ErrorCode::Parse, problem).error();
  }
  const std::string context =
      parser.context == nullptr
          ? std::string()
          : fmt::format(" {} that begins on line {}", parser.context, parser.context_mark.line + 1);
  return fail_at(position_of(parser.problem_mark), ErrorCode::Parse, problem + context).error();
}

}  // namespace muster::yaml
