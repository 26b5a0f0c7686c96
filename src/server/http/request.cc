#include "server/http/request.h"

#include <fmt/format.h>

#include "api/object.h"
#include "base/strings.h"
#include "json/read.h"

namespace muster::server {
namespace {

std::string_view media_type(std::string_view header) {
  return trim(header.substr(0, header.find(';')));
}

std::string_view parameter(std::string_view entry, std::string_view name) {
  for (const std::string_view part : split(entry, ';')) {
    const std::string_view text = trim(part);
    if (text.size() > name.size() && text.starts_with(name) && text[name.size()] == '=') {
      return text.substr(name.size() + 1);
    }
  }
  return {};
}

// The first entry of Accept that we can serve.
Result<Form> choose_form(const net::HttpRequest& http) {
  const std::string_view accept = http.headers.get("Accept").value_or("");
  if (trim(accept).empty()) return Form::Object;
  for (const std::string_view entry : split(accept, ',')) {
    const std::string_view type = media_type(entry);
    if (type != "application/json" && type != "*/*" && type != "application/*") continue;
    const std::string_view as = parameter(entry, "as");
    if (as.empty()) return Form::Object;
    if (parameter(entry, "g") != "meta.k8s.io") continue;
    if (parameter(entry, "v") != "v1" && parameter(entry, "v") != "v1beta1") continue;
    if (as == "Table") return Form::Table;
    if (as == "PartialObjectMetadata" || as == "PartialObjectMetadataList") return Form::Metadata;
  }
  return fail(ErrorCode::NotAcceptable,
              "only the following media types are accepted: application/json, "
              "application/json;as=Table;v=v1;g=meta.k8s.io, "
              "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io");
}

}  // namespace

Result<Mode> read_dry_run(std::string_view dry_run) {
  if (dry_run == "All") return Mode::DryRun;
  return fail(ErrorCode::BadRequest,
              fmt::format("dryRun: Unsupported value: \"{}\": supported values: \"All\"", dry_run));
}

bool ApiRequest::watching() const {
  return query().flag("watch");
}

Selection ApiRequest::selection() const {
  std::string fields(query().get("fieldSelector"));
  if (!key.name.empty()) fields = fmt::format("metadata.name={}", key.name);
  return {.ns = key.ns,
          .labels = std::string(query().get("labelSelector")),
          .fields = std::move(fields)};
}

Result<std::optional<ApiRequest>> read_request(const Kinds& kinds, const net::HttpRequest& http,
                                               RequestPath path) {
  ApiRequest request;
  request.http = &http;
  request.kind = path.is_resource ? kinds.find(path.group, path.version, path.plural) : nullptr;
  if (request.kind == nullptr) return std::nullopt;
  const bool namespaced = request.kind->resource.namespaced();
  if (path.in_namespace && !namespaced) return std::nullopt;
  if (namespaced && !path.in_namespace && !path.name.empty()) return std::nullopt;
  request.key = {.ns = path.ns, .name = path.name};
  request.path = std::move(path);
  request.form = TRY(choose_form(http));
  if (request.query().has("dryRun"))
    request.mode = TRY(read_dry_run(request.query().get("dryRun")));
  const std::string_view include = request.query().get("includeObject");
  if (include == "Object") request.include = IncludeObject::Object;
  if (include == "None") request.include = IncludeObject::None;
  return request;
}

Result<json::Value> read_body(const ApiRequest& request) {
  const std::string_view type = media_type(request.http->headers.get("Content-Type").value_or(""));
  const bool json_like = type.empty() || type == "application/json" || type == "*/*" ||
                         (request.http->method == "PATCH" && type.ends_with("-patch+json"));
  if (!json_like) {
    return fail(
        ErrorCode::UnsupportedMediaType,
        fmt::format("the body of the request was in an unknown format ({}) - accepted media "
                    "types include: application/json",
                    printable(type)));
  }
  auto body = json::read(request.http->body);
  if (!body) {
    const bool large = body.error().code == ErrorCode::TooLarge;
    return fail(large ? ErrorCode::TooLarge : ErrorCode::BadRequest, body.error().message);
  }
  return body;
}

Result<json::Value> read_object(const ApiRequest& request) {
  json::Value object = TRY(read_body(request));
  if (!object.is_object()) return object;  // refused with the right words later
  if (!object.at_path("metadata").is_object() && !object.at_path("metadata").is_null())
    return object;
  const auto agree = [&](const char* field, const std::string& from_url) -> Result<void> {
    const json::Value& given = object.at_path("metadata")[field];
    if (!given.is_null() && !given.is_string()) return {};
    if (!given.as_string().empty() && given.as_string() != from_url) {
      return fail(
          ErrorCode::BadRequest,
          fmt::format("the {} of the provided object ({}) does not match the {} sent on the "
                      "request ({})",
                      field, given.as_string(), field, from_url));
    }
    if (given.as_string().empty()) object["metadata"][field] = from_url;
    return {};
  };
  if (request.kind->resource.namespaced()) TRY(agree("namespace", request.key.ns));
  if (!request.collection()) TRY(agree("name", request.key.name));
  return object;
}

}  // namespace muster::server
