#include "cluster/kube/answers.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "api/object.h"
#include "api/status.h"
#include "base/strings.h"
#include "json/read.h"

namespace muster::cluster::kube {
namespace {

using json::Value;

void drop_managed_fields(Value& object) {
  if (!object.is_object()) return;
  if (Value* metadata = object.object().find("metadata");
      metadata != nullptr && metadata->is_object()) {
    metadata->object().erase("managedFields");
  }
}

ObjectPtr share(Value object) {
  drop_managed_fields(object);
  return std::make_shared<const Value>(std::move(object));
}

Result<Value> read_any_mapping(std::string_view body) {
  auto value = json::read(body, json::kAnswerLimits);
  if (!value) return fail(value.error().in("the server's answer"));
  if (!value->is_object()) {
    return fail(ErrorCode::Parse,
                fmt::format("the server's answer is {}, not an object", value->type_name()));
  }
  return std::move(*value);
}

Result<Value> read_mapping(std::string_view body) {
  auto value = read_any_mapping(body);
  // What the server sent is not what we asked for: try again later, do not blame the object.
  if (!value) return fail(ErrorCode::Parse, std::move(value).error().message);
  return value;
}

// Puts apiVersion and kind in front, as they stand in a single object.
Value with_type(const Resource& resource, Value item) {
  if (!item.is_object() || item.as_object().contains("kind")) return item;
  json::Object typed;
  typed.reserve(item.as_object().size() + 2);
  typed.append("apiVersion", resource.api_version());
  typed.append("kind", resource.kind);
  for (auto& [name, value] : item.object()) {
    if (name != "apiVersion") typed.append(std::move(name), std::move(value));
  }
  return Value(std::move(typed));
}

Result<EventType> event_type(const std::string& text) {
  if (text == "ADDED") return EventType::Added;
  if (text == "MODIFIED") return EventType::Modified;
  if (text == "DELETED") return EventType::Deleted;
  if (text == "BOOKMARK") return EventType::Bookmark;
  return fail(ErrorCode::Parse, fmt::format("a watch event of type \"{}\"",
                                            printable(std::string_view(text).substr(0, 64))));
}

// Only seconds are in use; a date would need the peer's clock, and is treated as none.
std::optional<std::chrono::milliseconds> parse_retry_after(std::string_view text) {
  const auto seconds = parse_int(trim(text));
  if (!seconds || *seconds < 0) return std::nullopt;
  return std::chrono::seconds(std::min<std::int64_t>(*seconds, 3600));
}

}  // namespace

Result<ObjectPtr> read_object(std::string_view body) {
  return share(TRY(read_mapping(body)));
}

Result<ListPage> read_list(const Resource& resource, std::string_view body) {
  Value list = TRY(read_any_mapping(body));
  const Value& metadata = std::as_const(list)["metadata"];
  ListPage page{.resource_version = metadata["resourceVersion"].as_string(),
                .continue_token = metadata["continue"].as_string()};
  Value* items = list.object().find("items");
  if (items == nullptr || items->is_null()) return page;  // Go writes an empty list as null
  if (!items->is_array()) {
    return fail(ErrorCode::Parse,
                fmt::format("the server's list: items is {}", items->type_name()));
  }
  page.items.reserve(items->array().size());
  for (Value& item : items->array()) {
    if (!item.is_object()) {
      return fail(ErrorCode::Parse,
                  fmt::format("the server's list: an item is {}", item.type_name()));
    }
    page.items.push_back(share(with_type(resource, std::move(item))));
  }
  return page;
}

Result<ObjectPtr> read_removed(const Resource& resource, const ObjectKey& key,
                               std::string_view body) {
  Value answer = TRY(read_mapping(body));
  if (std::as_const(answer)["kind"].as_string() != "Status") return share(std::move(answer));
  Value removed = json::Object{{"apiVersion", resource.api_version()}, {"kind", resource.kind}};
  removed["metadata"]["name"] = key.name;
  if (!key.ns.empty()) removed["metadata"]["namespace"] = key.ns;
  removed["metadata"]["uid"] = std::as_const(answer)["details"]["uid"];
  return share(std::move(removed));
}

Result<WatchEvent> read_event(std::string_view line) {
  Value event = TRY(read_mapping(line));
  const std::string type = std::as_const(event)["type"].as_string();
  Value* object = event.object().find("object");
  if (object == nullptr || !object->is_object()) {
    return fail(ErrorCode::Parse, "a watch event without an object");
  }
  if (type == "ERROR") {
    const auto code = std::as_const(*object)["code"].as_int(500);
    return fail(api::error_from_status(static_cast<int>(std::clamp<std::int64_t>(code, 400, 599)),
                                       *object));
  }
  return WatchEvent{.type = TRY(event_type(type)), .object = share(std::move(*object))};
}

Result<Token> read_token(std::string_view body) {
  const Value answer = TRY(read_mapping(body));
  Token token{.value = answer["status"]["token"].as_string(),
              .expires = answer["status"]["expirationTimestamp"].as_string()};
  if (token.value.empty())
    return fail(ErrorCode::Parse, "the server's TokenRequest holds no token");
  return token;
}

Error read_error(int status, std::string_view body, std::string_view retry_after) {
  // Not every error comes from the API itself: a proxy in between answers with text or HTML.
  auto value = json::read(body, json::kAnswerLimits);
  constexpr std::size_t kShownBytes = 512;
  Error error = api::error_from_status(
      status, value ? *value : Value(printable(trim(body.substr(0, kShownBytes)))));
  if (const auto wait = parse_retry_after(retry_after)) error.retry_after = wait;
  return error;
}

}  // namespace muster::cluster::kube
