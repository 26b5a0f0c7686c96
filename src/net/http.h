#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

// HTTP messages as plain values, the same for client and server, HTTP/1.1 and HTTP/2.
namespace muster::net {

// Header fields in the order they came; names compare without case, a name may appear several
// times.
class Headers {
 public:
  struct Field {
    std::string name;
    std::string value;
    friend bool operator==(const Field&, const Field&) = default;
  };

  Headers() = default;
  Headers(std::initializer_list<Field> fields) : fields_(fields) {}

  void add(std::string name, std::string value) {
    fields_.push_back({std::move(name), std::move(value)});
  }
  // Replaces every field of that name.
  void set(std::string_view name, std::string value);
  void remove(std::string_view name);
  // The first field of that name.
  [[nodiscard]] std::optional<std::string_view> get(std::string_view name) const;
  [[nodiscard]] bool has(std::string_view name) const { return get(name).has_value(); }
  // True when a comma-separated list in any field of that name holds the token (without case).
  [[nodiscard]] bool has_token(std::string_view name, std::string_view token) const;

  [[nodiscard]] auto begin() const { return fields_.begin(); }
  [[nodiscard]] auto end() const { return fields_.end(); }
  [[nodiscard]] std::size_t size() const { return fields_.size(); }
  [[nodiscard]] bool empty() const { return fields_.empty(); }
  friend bool operator==(const Headers&, const Headers&) = default;

 private:
  std::vector<Field> fields_;
};

struct HttpRequest {
  std::string method = "GET";
  std::string target = "/";  // path and query, as on the wire
  Headers headers;
  std::string body;
};

struct HttpResponse {
  int status = 200;
  Headers headers;
  std::string body;
};

// "Not Found" for 404; "Unknown" for a status without a name.
std::string_view reason_phrase(int status);

// Whether the message can be written without changing its meaning: a token as method and as header
// names, a target without blanks, no CR, LF or NUL in values.
Result<void> check_sendable(const HttpRequest& request);
bool is_header_name(std::string_view name);
bool is_header_value(std::string_view value);

}  // namespace muster::net
