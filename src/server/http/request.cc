#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "api/object.h"
#include "base/strings.h"
#include "json/read.h"
#include "server/http/request.h"

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
Result<Form> choose_form(const net::HttpRequest& request) {
  const std::string_view accept = request.headers.get("Accept").value_or("");
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

Result<Mode> choose_mode(std::string_view dry_run) {
  if (dry_run == "All") return Mode::DryRun;
  return fail(ErrorCode::BadRequest,
              fmt::format("dryRun: Unsupported value: \"{}\": supported values: \"All\"", dry_run));
}

std::unexpected<Error> bad_list_option(std::string_view text) {
  return fail(Error{.code = ErrorCode::Invalid,
                    .message = fmt::format("ListOptions.meta.k8s.io \"\" is invalid: {}", text),
                    .causes = {{.field = std::string(text.substr(0, text.find(':'))),
                                .reason = "FieldValueForbidden",
                                .message = std::string(trim(text.substr(text.find(':') + 1)))}},
                    .retry_after = std::nullopt});
}

Result<Propagation> parse_propagation(std::string_view text) {
  if (text.empty() || text == "Background") return Propagation::Background;
  if (text == "Foreground") return Propagation::Foreground;
  if (text == "Orphan") return Propagation::Orphan;
  return fail(ErrorCode::BadRequest,
              fmt::format("propagationPolicy: Unsupported value: \"{}\": supported values: "
                          "\"Background\", \"Foreground\", \"Orphan\"",
                          text));
}

}  // namespace

bool Call::watching() const {
  return query().flag("watch");
}

Selection Call::selection() const {
  std::string fields(query().get("fieldSelector"));
  if (!key.name.empty()) fields = fmt::format("metadata.name={}", key.name);
  return {.ns = key.ns,
          .labels = std::string(query().get("labelSelector")),
          .fields = std::move(fields)};
}

Result<std::optional<Call>> read_call(const Kinds& kinds, const net::HttpRequest& request,
                                      Target target) {
  Call call;
  call.request = &request;
  call.kind =
      target.is_resource ? kinds.find(target.group, target.version, target.plural) : nullptr;
  if (call.kind == nullptr) return std::nullopt;
  const bool namespaced = call.kind->resource.namespaced();
  if (target.in_namespace && !namespaced) return std::nullopt;
  if (namespaced && !target.in_namespace && !target.name.empty()) return std::nullopt;
  call.key = {.ns = target.ns, .name = target.name};
  call.target = std::move(target);
  call.form = TRY(choose_form(request));
  if (call.query().has("dryRun")) call.mode = TRY(choose_mode(call.query().get("dryRun")));
  const std::string_view include = call.query().get("includeObject");
  if (include == "Object") call.include = IncludeObject::Object;
  if (include == "None") call.include = IncludeObject::None;
  return call;
}

Result<json::Value> read_body(const Call& call) {
  const std::string_view type = media_type(call.request->headers.get("Content-Type").value_or(""));
  const bool json_like = type.empty() || type == "application/json" || type == "*/*" ||
                         (call.request->method == "PATCH" && type.ends_with("-patch+json"));
  if (!json_like) {
    return fail(
        ErrorCode::UnsupportedMediaType,
        fmt::format("the body of the request was in an unknown format ({}) - accepted media "
                    "types include: application/json",
                    printable(type)));
  }
  auto body = json::read(call.request->body);
  if (!body) {
    const bool large = body.error().code == ErrorCode::TooLarge;
    return fail(large ? ErrorCode::TooLarge : ErrorCode::BadRequest, body.error().message);
  }
  return body;
}

Result<json::Value> read_object(const Call& call) {
  json::Value object = TRY(read_body(call));
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
  if (call.kind->resource.namespaced()) TRY(agree("namespace", call.key.ns));
  if (!call.collection()) TRY(agree("name", call.key.name));
  return object;
}

Result<DeleteOptions> read_delete_options(Call& call) {
  DeleteOptions options;
  const Query& query = call.query();
  options.grace_seconds = TRY(query.number("gracePeriodSeconds"));
  std::string policy(query.get("propagationPolicy"));
  bool orphan_asked = query.has("orphanDependents");
  if (!trim(call.request->body).empty()) {
    const json::Value body = TRY(read_body(call));
    if (!body.is_object()) return fail(ErrorCode::BadRequest, "the body must be DeleteOptions");
    if (body["gracePeriodSeconds"].is_int())
      options.grace_seconds = body["gracePeriodSeconds"].as_int();
    if (!body["propagationPolicy"].is_null()) policy = body["propagationPolicy"].as_string();
    options.uid = body["preconditions"]["uid"].as_string();
    options.resource_version = body["preconditions"]["resourceVersion"].as_string();
    for (const json::Value& dry_run : body["dryRun"].as_array()) {
      call.mode = TRY(choose_mode(dry_run.as_string()));
    }
    orphan_asked = orphan_asked || !body["orphanDependents"].is_null();
  }
  if (orphan_asked) {
    return fail(ErrorCode::BadRequest, "orphanDependents is not supported; use propagationPolicy");
  }
  options.propagation = TRY(parse_propagation(policy));
  return options;
}

Result<ListOptions> read_list_options(const Call& call) {
  const Query& query = call.query();
  ListOptions options{.where = call.selection(),
                      .limit = 0,
                      .continue_token = std::string(query.get("continue")),
                      .resource_version = std::string(query.get("resourceVersion")),
                      .resource_version_match = std::string(query.get("resourceVersionMatch"))};
  const auto limit = TRY(query.number("limit"));
  options.limit = static_cast<int>(std::clamp<std::int64_t>(limit.value_or(0), 0, 1'000'000));
  const std::string& match = options.resource_version_match;
  if (query.has("sendInitialEvents")) {
    return bad_list_option("sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list");
  }
  if (match.empty()) return options;
  if (match != "Exact" && match != "NotOlderThan") {
    return bad_list_option(
        "resourceVersionMatch: Unsupported value: supported values: \"Exact\", \"NotOlderThan\"");
  }
  if (!options.continue_token.empty()) {
    return bad_list_option(
        "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden when continue is "
        "provided");
  }
  if (options.resource_version.empty()) {
    return bad_list_option(
        "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless resourceVersion "
        "is provided");
  }
  if (match == "Exact" && options.resource_version == "0") {
    return bad_list_option(
        "resourceVersionMatch: Forbidden: resourceVersionMatch \"exact\" is forbidden for "
        "resourceVersion \"0\"");
  }
  return options;
}

Result<WatchOptions> read_watch_options(const Call& call) {
  const Query& query = call.query();
  WatchOptions options{.where = call.selection(),
                       .resource_version = std::string(query.get("resourceVersion")),
                       .bookmarks = query.flag("allowWatchBookmarks"),
                       .initial_events = query.flag("sendInitialEvents")};
  const std::string_view match = query.get("resourceVersionMatch");
  if (query.has("sendInitialEvents") && match != "NotOlderThan") {
    return bad_list_option(
        "resourceVersionMatch: Forbidden: sendInitialEvents requires setting resourceVersionMatch "
        "to NotOlderThan");
  }
  if (!query.has("sendInitialEvents") && !match.empty()) {
    return bad_list_option(
        "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden for watch unless "
        "sendInitialEvents is provided");
  }
  if (options.initial_events && !options.bookmarks) {
    return bad_list_option(
        "allowWatchBookmarks: Forbidden: sendInitialEvents requires allowWatchBookmarks");
  }
  return options;
}

namespace {

Result<std::optional<std::int64_t>> log_number(const Query& query, std::string_view name,
                                               std::int64_t least) {
  const auto number = TRY(query.number(name));
  if (!number || *number >= least) return number;
  return fail(ErrorCode::Invalid,
              fmt::format("{}: Invalid value: {}: must be {} or more", name, *number, least));
}

}  // namespace

Result<LogOptions> read_log_options(const Call& call) {
  const Query& query = call.query();
  for (const char* option : {"stream", "insecureSkipTLSVerifyBackend"}) {
    if (!query.has(option)) continue;
    return fail(ErrorCode::BadRequest, fmt::format("the log option {} is not supported", option));
  }
  LogOptions options{.container = std::string(query.get("container")),
                     .follow = query.flag("follow"),
                     .previous = query.flag("previous"),
                     .timestamps = query.flag("timestamps")};
  options.tail_lines = TRY(log_number(query, "tailLines", 0));
  options.limit_bytes = TRY(log_number(query, "limitBytes", 1));
  options.since_seconds = TRY(log_number(query, "sinceSeconds", 1));
  if (query.has("sinceTime")) {
    if (options.since_seconds) {
      return fail(ErrorCode::Invalid,
                  "at most one of `sinceTime` or `sinceSeconds` may be specified");
    }
    const auto time = parse_time(query.get("sinceTime"));
    if (!time) return fail(ErrorCode::BadRequest, "sinceTime must be an RFC 3339 time");
    options.since_time = *time;
  }
  return options;
}

}  // namespace muster::server
