#include "server/http/answer.h"

#include <fmt/format.h>

#include "api/object.h"
#include "api/status.h"
#include "json/write.h"
#include "server/http/printer.h"

namespace muster::server {
namespace {

json::Value metadata_only(const json::Value& object) {
  return json::Object{{"kind", "PartialObjectMetadata"},
                      {"apiVersion", "meta.k8s.io/v1"},
                      {"metadata", object["metadata"]}};
}

std::string_view event_name(EventType type) {
  switch (type) {
    case EventType::Added:
      return "ADDED";
    case EventType::Modified:
      return "MODIFIED";
    case EventType::Deleted:
      return "DELETED";
    case EventType::Bookmark:
      return "BOOKMARK";
  }
  return "ERROR";
}

api::StatusSubject subject_of(const Error& error, const ApiRequest* request) {
  if (request == nullptr || request->kind == nullptr) return {};
  const api::Resource& resource = request->kind->resource;
  return {.group = resource.group,
          .kind = error.code == ErrorCode::Invalid ? resource.kind : resource.plural,
          .name = request->key.name};
}

json::Value list_metadata(const ListPage& page) {
  json::Value metadata;
  metadata["resourceVersion"] = page.resource_version;
  if (!page.continue_token.empty()) metadata["continue"] = page.continue_token;
  return metadata;
}

}  // namespace

net::HttpResponse json_response(int status, const json::Value& body) {
  std::string text = json::write(body);
  text += '\n';
  return {
      .status = status, .headers = {{"Content-Type", "application/json"}}, .body = std::move(text)};
}

net::HttpResponse text_response(int status, std::string body) {
  return {.status = status,
          .headers = {{"Content-Type", "text/plain; charset=utf-8"},
                      {"X-Content-Type-Options", "nosniff"}},
          .body = std::move(body)};
}

json::Value error_status(const Error& error, const ApiRequest* request) {
  return api::status_of(error, subject_of(error, request));
}

net::HttpResponse error_response(const Error& error, const ApiRequest* request) {
  net::HttpResponse response =
      json_response(api::http_code(error.code), error_status(error, request));
  if (error.retry_after) {
    const auto seconds = std::chrono::ceil<std::chrono::seconds>(*error.retry_after).count();
    response.headers.set("Retry-After", std::to_string(seconds));
  }
  return response;
}

net::HttpResponse object_response(int status, const ApiRequest& request, const json::Value& object,
                                  Time now) {
  if (request.form == Form::Metadata) return json_response(status, metadata_only(object));
  if (request.form != Form::Table) return json_response(status, object);
  json::Value table = empty_table(*request.kind, true);
  table["metadata"]["resourceVersion"] = api::resource_version_of(object);
  table["rows"].array().push_back(row_of(*request.kind, object, request.include, now));
  return json_response(status, table);
}

std::string show_list(const ApiRequest& request, const ListPage& page, Time now) {
  if (request.form == Form::Table) {
    json::Value table = empty_table(*request.kind, true);
    table["metadata"] = list_metadata(page);
    for (const ObjectPtr& item : page.items) {
      table["rows"].array().push_back(row_of(*request.kind, *item, request.include, now));
    }
    return json::write(table) + "\n";
  }
  const bool metadata = request.form == Form::Metadata;
  const api::Resource& resource = request.kind->resource;
  // Written piece by piece: a list can be large, and its items are there already.
  std::string out = fmt::format(R"({{"kind":"{}List","apiVersion":"{}","metadata":)",
                                metadata ? "PartialObjectMetadata" : resource.kind,
                                metadata ? "meta.k8s.io/v1" : resource.api_version());
  json::write_to(out, list_metadata(page));
  out += R"(,"items":[)";
  for (std::size_t i = 0; i < page.items.size(); ++i) {
    if (i > 0) out += ',';
    if (metadata) {
      json::write_to(out, metadata_only(*page.items[i]));
    } else {
      json::write_to(out, *page.items[i]);
    }
  }
  out += "]}\n";
  return out;
}

std::string show_event(const ApiRequest& request, const WatchEvent& event, bool first, Time now) {
  std::string out = fmt::format(R"({{"type":"{}","object":)", event_name(event.type));
  if (request.form == Form::Table) {
    json::Value table = empty_table(*request.kind, first);
    table["metadata"]["resourceVersion"] = api::resource_version_of(*event.object);
    if (event.type != EventType::Bookmark) {
      table["rows"].array().push_back(row_of(*request.kind, *event.object, request.include, now));
    }
    json::write_to(out, table);
  } else if (request.form == Form::Metadata) {
    json::write_to(out, metadata_only(*event.object));
  } else {
    json::write_to(out, *event.object);
  }
  out += "}\n";
  return out;
}

}  // namespace muster::server
