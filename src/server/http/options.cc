#include "server/http/options.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/strings.h"

namespace muster::server {
namespace {

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

Result<std::optional<std::int64_t>> log_number(const Query& query, std::string_view name,
                                               std::int64_t least) {
  const auto number = TRY(query.number(name));
  if (!number || *number >= least) return number;
  return fail(ErrorCode::Invalid,
              fmt::format("{}: Invalid value: {}: must be {} or more", name, *number, least));
}

}  // namespace

Result<DeleteOptions> read_delete_options(ApiRequest& request) {
  DeleteOptions options;
  const Query& query = request.query();
  options.grace_seconds = TRY(query.number("gracePeriodSeconds"));
  std::string policy(query.get("propagationPolicy"));
  bool orphan_asked = query.has("orphanDependents");
  if (!trim(request.http->body).empty()) {
    const json::Value body = TRY(read_body(request));
    if (!body.is_object()) return fail(ErrorCode::BadRequest, "the body must be DeleteOptions");
    if (body["gracePeriodSeconds"].is_int())
      options.grace_seconds = body["gracePeriodSeconds"].as_int();
    if (!body["propagationPolicy"].is_null()) policy = body["propagationPolicy"].as_string();
    options.uid = body["preconditions"]["uid"].as_string();
    options.resource_version = body["preconditions"]["resourceVersion"].as_string();
    for (const json::Value& dry_run : body["dryRun"].as_array()) {
      request.mode = TRY(read_dry_run(dry_run.as_string()));
    }
    orphan_asked = orphan_asked || !body["orphanDependents"].is_null();
  }
  if (orphan_asked) {
    return fail(ErrorCode::BadRequest, "orphanDependents is not supported; use propagationPolicy");
  }
  options.propagation = TRY(parse_propagation(policy));
  return options;
}

Result<ListOptions> read_list_options(const ApiRequest& request) {
  const Query& query = request.query();
  ListOptions options{.where = request.selection(),
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

Result<WatchOptions> read_watch_options(const ApiRequest& request) {
  const Query& query = request.query();
  WatchOptions options{.where = request.selection(),
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

Result<LogOptions> read_log_options(const ApiRequest& request) {
  const Query& query = request.query();
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
