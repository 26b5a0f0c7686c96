#include "node/logs/log_endpoint.h"

#include <algorithm>

#include <fmt/format.h>

#include "api/status.h"
#include "base/strings.h"

namespace muster::node {

namespace {

// Kubernetes' own rule: false when absent, 0 or false in any letter case; everything else is true.
bool is_true(std::string_view value) {
  return value != "0" && !equal_ignoring_case(value, "false");
}

Result<std::int64_t> count_of(std::string_view name, std::string_view value) {
  const auto number = parse_int(value);
  if (!number || *number < 0) {
    return fail(ErrorCode::BadRequest,
                fmt::format("{}={} must be a whole number, 0 or more", name, printable(value)));
  }
  return *number;
}

Result<void> apply(LogRequest& out, std::string_view name, std::string_view value, Time now) {
  if (name == "follow") out.options.follow = is_true(value);
  if (name == "previous") out.options.previous = is_true(value);
  if (name == "timestamps") out.options.timestamps = is_true(value);
  if (name == "tailLines") out.options.tail_lines = TRY(count_of(name, value));
  if (name == "limitBytes") out.options.limit_bytes = TRY(count_of(name, value));
  if (name == "sinceSeconds") out.options.since_seconds = TRY(count_of(name, value));
  if (name == "sinceTime") {
    const auto time = parse_time(value);
    if (!time) return fail(ErrorCode::BadRequest, "sinceTime must be an RFC 3339 time");
    out.options.since_time = std::min(*time, now);
  }
  return {};
}

}  // namespace

Result<LogRequest> parse_log_request(std::string_view target, Time now) {
  const auto question = target.find('?');
  const auto parts = split(target.substr(0, question), '/');
  if (parts.size() != 5 || !parts[0].empty() || parts[1] != "containerLogs") {
    return fail(ErrorCode::NotFound, "404 page not found");
  }
  std::vector<std::string> names;
  for (std::size_t i = 2; i < parts.size(); ++i) {
    auto name = percent_decode(parts[i]);
    // Names become parts of paths.
    if (!name || name->empty() || name->contains('/') || name->starts_with('.')) {
      return fail(ErrorCode::NotFound, "404 page not found");
    }
    names.push_back(std::move(*name));
  }
  LogRequest out{.pod = {.ns = names[0], .name = names[1]}};
  out.options.container = names[2];
  if (question == std::string_view::npos) return out;
  for (const auto pair : split(target.substr(question + 1), '&')) {
    const auto equals = pair.find('=');
    const auto raw =
        equals == std::string_view::npos ? std::string_view() : pair.substr(equals + 1);
    const auto value = percent_decode(raw);
    if (!value) return fail(ErrorCode::BadRequest, "the query has a bad escape");
    TRY(apply(out, pair.substr(0, equals), *value, now));
  }
  return out;
}

Task<void> LogEndpoint::handle(const net::HttpRequest& request, net::Responder& responder) {
  Result<LogRequest> wanted = parse_log_request(request.target, loop_.now());
  if (wanted && request.method != "GET") {
    wanted = fail(ErrorCode::MethodNotAllowed, "only GET is known here");
  }
  if (wanted) {
    co_await send(std::move(*wanted), responder);
    co_return;
  }
  net::HttpResponse answer{.status = api::http_code(wanted.error().code),
                           .headers = {{"Content-Type", "text/plain"}},
                           .body = wanted.error().message + "\n"};
  [[maybe_unused]] const auto sent = co_await responder.respond(std::move(answer));
}

Task<void> LogEndpoint::send(LogRequest request, net::Responder& responder) {
  const auto key = request.pod;
  auto stream = logs_.open([this, key] { return find_pod_(key); }, request.options);
  if (!stream) {
    net::HttpResponse answer{.status = api::http_code(stream.error().code),
                             .headers = {{"Content-Type", "text/plain"}},
                             .body = stream.error().message + "\n"};
    [[maybe_unused]] const auto sent = co_await responder.respond(std::move(answer));
    co_return;
  }
  const auto begun = co_await responder.begin(200, {{"Content-Type", "text/plain"}});
  if (!begun) co_return;
  while (true) {
    const auto chunk = co_await (*stream)->next();
    if (!chunk || !*chunk) break;
    const auto written = co_await responder.write_chunk(**chunk);
    if (!written) co_return;
  }
  [[maybe_unused]] const auto finished = co_await responder.finish();
}

}  // namespace muster::node
