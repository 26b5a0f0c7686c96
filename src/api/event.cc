#include "api/event.h"

#include <cctype>

#include <fmt/format.h>

#include "api/object.h"
#include "base/limits.h"
#include "base/strings.h"

namespace muster::api {
namespace {

// An object's name may be as long as an event's: 253 less the dot and sixteen digits.
constexpr std::size_t kMostOfName = 253 - 17;

std::string event_name(std::string_view object_name, Rng& rng) {
  object_name = object_name.substr(0, kMostOfName);
  // Each part between two dots ends with a letter or a digit.
  while (!object_name.empty() &&
         std::isalnum(static_cast<unsigned char>(object_name.back())) == 0) {
    object_name.remove_suffix(1);
  }
  return fmt::format("{}.{:016x}", object_name, rng.next());
}

json::Value involved_object(const ObjectReference& about) {
  json::Value out = json::Object{{"apiVersion", about.api_version},
                                 {"kind", about.kind},
                                 {"namespace", about.ns},
                                 {"name", about.name},
                                 {"uid", about.uid}};
  if (!about.resource_version.empty()) out["resourceVersion"] = about.resource_version;
  if (!about.field_path.empty()) out["fieldPath"] = about.field_path;
  return out;
}

}  // namespace

ObjectReference ObjectReference::of(const json::Value& object) {
  return {.api_version = api_version_of(object),
          .kind = kind_of(object),
          .ns = namespace_of(object),
          .name = name_of(object),
          .uid = uid_of(object),
          .resource_version = resource_version_of(object)};
}

std::string event_message(std::string_view text) {
  return shortened(text, limits::kMaxEventMessageBytes);
}

json::Value make_event(const EventContent& content, Time now, Rng& rng) {
  const std::string time = format_time(now);
  json::Value source = json::Object{{"component", content.component}};
  if (!content.host.empty()) source["host"] = content.host;
  // Events about objects without a namespace lie in "default", as everybody's do.
  const std::string ns = content.about.ns.empty() ? "default" : content.about.ns;
  return json::Object{
      {"apiVersion", "v1"},
      {"kind", "Event"},
      {"metadata", json::Object{{"name", event_name(content.about.name, rng)}, {"namespace", ns}}},
      {"involvedObject", involved_object(content.about)},
      {"reason", content.reason},
      {"message", event_message(content.message)},
      {"type", content.severity == EventSeverity::Warning ? "Warning" : "Normal"},
      {"source", std::move(source)},
      {"reportingComponent", content.component},
      {"reportingInstance", content.host},
      {"firstTimestamp", time},
      {"lastTimestamp", time},
      {"count", 1}};
}

}  // namespace muster::api
