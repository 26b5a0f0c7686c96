#include "net/http.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/strings.h"

namespace muster::net {

namespace {

constexpr std::array<bool, 256> make_token_table() {
  std::array<bool, 256> table{};
  for (unsigned c = '0'; c <= '9'; ++c) table[c] = true;
  for (unsigned c = 'a'; c <= 'z'; ++c) table[c] = true;
  for (unsigned c = 'A'; c <= 'Z'; ++c) table[c] = true;
  for (const char c : std::string_view("!#$%&'*+-.^_`|~"))
    table[static_cast<unsigned char>(c)] = true;
  return table;
}
constexpr auto kToken = make_token_table();

}  // namespace

void Headers::set(std::string_view name, std::string value) {
  remove(name);
  add(std::string(name), std::move(value));
}

void Headers::remove(std::string_view name) {
  std::erase_if(fields_, [&](const Field& field) { return equal_ignoring_case(field.name, name); });
}

std::optional<std::string_view> Headers::get(std::string_view name) const {
  for (const auto& field : fields_) {
    if (equal_ignoring_case(field.name, name)) return field.value;
  }
  return std::nullopt;
}

bool Headers::has_token(std::string_view name, std::string_view token) const {
  for (const auto& field : fields_) {
    if (!equal_ignoring_case(field.name, name)) continue;
    for (const auto part : split(field.value, ',')) {
      if (equal_ignoring_case(trim(part), token)) return true;
    }
  }
  return false;
}

std::string_view reason_phrase(int status) {
  switch (status) {
    case 100:
      return "Continue";
    case 101:
      return "Switching Protocols";
    case 200:
      return "OK";
    case 201:
      return "Created";
    case 202:
      return "Accepted";
    case 204:
      return "No Content";
    case 206:
      return "Partial Content";
    case 301:
      return "Moved Permanently";
    case 302:
      return "Found";
    case 304:
      return "Not Modified";
    case 307:
      return "Temporary Redirect";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 406:
      return "Not Acceptable";
    case 408:
      return "Request Timeout";
    case 409:
      return "Conflict";
    case 410:
      return "Gone";
    case 413:
      return "Content Too Large";
    case 415:
      return "Unsupported Media Type";
    case 422:
      return "Unprocessable Content";
    case 429:
      return "Too Many Requests";
    case 431:
      return "Request Header Fields Too Large";
    case 500:
      return "Internal Server Error";
    case 501:
      return "Not Implemented";
    case 503:
      return "Service Unavailable";
    case 504:
      return "Gateway Timeout";
    default:
      return "Unknown";
  }
}

bool is_header_name(std::string_view name) {
  return !name.empty() &&
         std::ranges::all_of(name, [](char c) { return kToken[static_cast<unsigned char>(c)]; });
}

bool is_header_value(std::string_view value) {
  return std::ranges::all_of(value, [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte >= 0x20 && byte != 0x7f) || c == '\t';
  });
}

Result<void> check_sendable(const HttpRequest& request) {
  if (!is_header_name(request.method)) {
    return fail(ErrorCode::BadRequest, "the request method is not a token");
  }
  const bool plain = std::ranges::all_of(request.target, [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte > 0x20 && byte < 0x7f;
  });
  if (!plain || !request.target.starts_with('/')) {
    return fail(ErrorCode::BadRequest,
                fmt::format("request target \"{}\": must start with / and be percent-encoded",
                            printable(request.target)));
  }
  for (const auto& field : request.headers) {
    if (!is_header_name(field.name)) {
      return fail(ErrorCode::BadRequest,
                  fmt::format("\"{}\" is not a header name", printable(field.name)));
    }
    // The value may be a credential, so it is not shown.
    if (!is_header_value(field.value)) {
      return fail(ErrorCode::BadRequest,
                  fmt::format("the value of header {} has control characters", field.name));
    }
  }
  return {};
}

}  // namespace muster::net
