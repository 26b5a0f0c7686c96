#include <iterator>

#include <fmt/format.h>

#include "base/strings.h"
#include "net/http1/protocol.h"

namespace muster::net {

namespace {

// Fields that say how the message is framed; the writer sets them itself.
bool is_framing(std::string_view name) {
  return equal_ignoring_case(name, "Content-Length") ||
         equal_ignoring_case(name, "Transfer-Encoding") || equal_ignoring_case(name, "Connection");
}

void append_field(std::string& out, std::string_view name, std::string_view value) {
  out.append(name).append(": ").append(value).append("\r\n");
}

void append_fields(std::string& out, const Headers& headers) {
  for (const auto& field : headers) {
    if (is_framing(field.name) || !is_header_name(field.name) || !is_header_value(field.value))
      continue;
    append_field(out, field.name, field.value);
  }
}

}  // namespace

void append_request_head(std::string& out, const HttpRequest& request, std::string_view host) {
  out.append(request.method).append(" ").append(request.target).append(" HTTP/1.1\r\n");
  if (!request.headers.has("Host")) append_field(out, "Host", host);
  append_fields(out, request.headers);
  if (request.headers.has("Upgrade")) append_field(out, "Connection", "Upgrade");
  const bool may_have_body = request.method != "GET" && request.method != "HEAD";
  if (may_have_body || !request.body.empty()) {
    fmt::format_to(std::back_inserter(out), "Content-Length: {}\r\n", request.body.size());
  }
  out.append("\r\n");
}

void append_response_head(std::string& out, int status, const Headers& headers, BodyFraming framing,
                          std::size_t length, bool keep_alive) {
  fmt::format_to(std::back_inserter(out), "HTTP/1.1 {} {}\r\n", status, reason_phrase(status));
  append_fields(out, headers);
  if (framing == BodyFraming::Length) {
    fmt::format_to(std::back_inserter(out), "Content-Length: {}\r\n", length);
  } else if (framing == BodyFraming::Chunked) {
    append_field(out, "Transfer-Encoding", "chunked");
  }
  if (status == 101) {
    append_field(out, "Connection", "Upgrade");
  } else if (!keep_alive) {
    append_field(out, "Connection", "close");
  }
  out.append("\r\n");
}

std::string chunk_head(std::size_t bytes) {
  return fmt::format("{:x}\r\n", bytes);
}

}  // namespace muster::net
