#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"

namespace muster::server {

// The query part of a URL, decoded, in order.
class Query {
 public:
  static Result<Query> parse(std::string_view text);

  // The first value of that name; empty when there is none.
  [[nodiscard]] std::string_view get(std::string_view name) const;
  [[nodiscard]] bool has(std::string_view name) const;
  // False when absent, 0 or false in any case; every other value is true, the empty one too.
  [[nodiscard]] bool flag(std::string_view name) const;
  // Nothing when absent; BadRequest when it is no number.
  [[nodiscard]] Result<std::optional<std::int64_t>> number(std::string_view name) const;

 private:
  std::vector<std::pair<std::string, std::string>> values_;
};

// What a request is about: /api/v1/… and /apis/<group>/<version>/… name resources, the rest stays a
// path.
struct RequestPath {
  std::string text;  // without the query
  Query query;

  bool is_resource = false;
  std::string group;
  std::string version;
  std::string ns;
  bool in_namespace = false;
  std::string plural;
  std::string name;
  std::string subresource;

  static Result<RequestPath> parse(std::string_view text);
};

}  // namespace muster::server
