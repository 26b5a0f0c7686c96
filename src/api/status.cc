#include "api/status.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/strings.h"

namespace muster::api {
namespace {

// What a client is told to wait at most; a server that asks for more is broken or hostile.
constexpr std::int64_t kMaxRetrySeconds = 3'600;
constexpr std::size_t kMaxForeignText = 512;

std::optional<ErrorCode> code_of_reason(std::string_view reason) {
  using Pair = std::pair<std::string_view, ErrorCode>;
  static constexpr std::array kReasons = {
      Pair{"BadRequest", ErrorCode::BadRequest},
      Pair{"Unauthorized", ErrorCode::Unauthorized},
      Pair{"Forbidden", ErrorCode::Forbidden},
      Pair{"NotFound", ErrorCode::NotFound},
      Pair{"MethodNotAllowed", ErrorCode::MethodNotAllowed},
      Pair{"NotAcceptable", ErrorCode::NotAcceptable},
      Pair{"AlreadyExists", ErrorCode::AlreadyExists},
      Pair{"Conflict", ErrorCode::Conflict},
      Pair{"Gone", ErrorCode::Gone},
      Pair{"Expired", ErrorCode::Gone},
      Pair{"RequestEntityTooLarge", ErrorCode::TooLarge},
      Pair{"UnsupportedMediaType", ErrorCode::UnsupportedMediaType},
      Pair{"Invalid", ErrorCode::Invalid},
      Pair{"TooManyRequests", ErrorCode::TooManyRequests},
      Pair{"InternalError", ErrorCode::Internal},
      Pair{"ServiceUnavailable", ErrorCode::Unavailable},
      Pair{"Timeout", ErrorCode::Timeout},
      Pair{"InsufficientStorage", ErrorCode::InsufficientStorage},
      // A 500 whose outcome is unknown: the same to a caller as a 504.
      Pair{"ServerTimeout", ErrorCode::Timeout},
  };
  const auto* const found = std::ranges::find(kReasons, reason, &Pair::first);
  return found == kReasons.end() ? std::nullopt : std::optional(found->second);
}

ErrorCode code_of_http(int http_status) {
  switch (http_status) {
    case 401:
      return ErrorCode::Unauthorized;
    case 403:
      return ErrorCode::Forbidden;
    case 404:
      return ErrorCode::NotFound;
    case 405:
      return ErrorCode::MethodNotAllowed;
    case 406:
      return ErrorCode::NotAcceptable;
    case 408:
      return ErrorCode::Timeout;
    case 409:
      return ErrorCode::Conflict;
    case 410:
      return ErrorCode::Gone;
    case 413:
      return ErrorCode::TooLarge;
    case 415:
      return ErrorCode::UnsupportedMediaType;
    case 422:
      return ErrorCode::Invalid;
    case 429:
      return ErrorCode::TooManyRequests;
    case 502:
    case 503:
      return ErrorCode::Unavailable;
    case 504:
      return ErrorCode::Timeout;
    case 507:
      return ErrorCode::InsufficientStorage;
    default:
      return http_status >= 400 && http_status < 500 ? ErrorCode::BadRequest : ErrorCode::Internal;
  }
}

// What a peer may be told: codes that never cross the wire become their nearest Kubernetes reason.
ErrorCode wire_code(ErrorCode code) {
  switch (code) {
    case ErrorCode::Parse:
      return ErrorCode::BadRequest;
    case ErrorCode::Io:
      return ErrorCode::Internal;
    case ErrorCode::Cancelled:
      return ErrorCode::Unavailable;
    default:
      return code;
  }
}

json::Value causes_json(const std::vector<FieldCause>& causes) {
  json::Array list;
  for (const FieldCause& cause : causes) {
    json::Object entry;
    if (!cause.reason.empty()) entry.append("reason", cause.reason);
    if (!cause.message.empty()) entry.append("message", cause.message);
    if (!cause.field.empty()) entry.append("field", cause.field);
    list.emplace_back(std::move(entry));
  }
  return list;
}

json::Object details_json(const Error& error, const StatusSubject& subject) {
  json::Object details;
  if (!subject.name.empty()) details.append("name", subject.name);
  if (!subject.group.empty()) details.append("group", subject.group);
  if (!subject.kind.empty()) details.append("kind", subject.kind);
  if (!error.causes.empty()) details.append("causes", causes_json(error.causes));
  if (error.retry_after) {
    const auto seconds = std::chrono::ceil<std::chrono::seconds>(*error.retry_after).count();
    details.append("retryAfterSeconds", std::int64_t{std::max<std::int64_t>(seconds, 1)});
  }
  return details;
}

std::string message_of(int http_status, const json::Value& body) {
  if (const auto& text = body["message"].as_string(); !text.empty()) return text;
  // A proxy in between answers in its own words.
  const std::string_view text = trim(body.as_string());
  if (!text.empty()) {
    return fmt::format("HTTP {}: {}", http_status, printable(text.substr(0, kMaxForeignText)));
  }
  if (const auto& reason = body["reason"].as_string(); !reason.empty()) {
    return fmt::format("HTTP {}: {}", http_status, reason);
  }
  return fmt::format("HTTP {}", http_status);
}

}  // namespace

int http_code(ErrorCode code) {
  switch (wire_code(code)) {
    case ErrorCode::BadRequest:
      return 400;
    case ErrorCode::Unauthorized:
      return 401;
    case ErrorCode::Forbidden:
      return 403;
    case ErrorCode::NotFound:
      return 404;
    case ErrorCode::MethodNotAllowed:
      return 405;
    case ErrorCode::NotAcceptable:
      return 406;
    case ErrorCode::AlreadyExists:
    case ErrorCode::Conflict:
      return 409;
    case ErrorCode::Gone:
      return 410;
    case ErrorCode::TooLarge:
      return 413;
    case ErrorCode::UnsupportedMediaType:
      return 415;
    case ErrorCode::Invalid:
      return 422;
    case ErrorCode::TooManyRequests:
      return 429;
    case ErrorCode::Unavailable:
      return 503;
    case ErrorCode::Timeout:
      return 504;
    case ErrorCode::InsufficientStorage:
      return 507;
    default:
      return 500;
  }
}

json::Value status_of(const Error& error, const StatusSubject& subject) {
  json::Object status{{"kind", "Status"},           {"apiVersion", "v1"},
                      {"metadata", json::Object()}, {"status", "Failure"},
                      {"message", error.message},   {"reason", to_string(wire_code(error.code))}};
  if (auto details = details_json(error, subject); !details.empty()) {
    status.append("details", std::move(details));
  }
  status.append("code", http_code(error.code));
  return status;
}

Error error_from_status(int http_status, const json::Value& body) {
  if (http_status < 400) {
    const auto code = body["code"].as_int();
    http_status = code >= 400 && code < 600 ? static_cast<int>(code) : 500;
  }
  Error error{
      .code = code_of_reason(body["reason"].as_string()).value_or(code_of_http(http_status)),
      .message = message_of(http_status, body)};
  const json::Value& details = body["details"];
  for (const json::Value& cause : details["causes"].as_array()) {
    error.causes.push_back({.field = cause["field"].as_string(),
                            .reason = cause["reason"].as_string(),
                            .message = cause["message"].as_string()});
  }
  if (const auto seconds = details["retryAfterSeconds"].as_int(); seconds > 0) {
    error.retry_after = std::chrono::seconds(std::min(seconds, kMaxRetrySeconds));
  }
  return error;
}

}  // namespace muster::api
