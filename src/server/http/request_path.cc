#include "server/http/request_path.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/strings.h"

namespace muster::server {
namespace {

std::optional<std::string> decode_query(std::string_view text) {
  std::string spaced(text);
  std::ranges::replace(spaced, '+', ' ');
  return percent_decode(spaced);
}

Result<std::vector<std::string>> path_segments(std::string_view path) {
  std::vector<std::string> segments;
  for (const std::string_view part : split(path, '/')) {
    if (part.empty()) continue;
    auto decoded = percent_decode(part);
    // A name that hides a separator, or climbs, is nobody's.
    if (!decoded || decoded->contains('/') || decoded->contains('\0') || *decoded == "." ||
        *decoded == "..") {
      return fail(ErrorCode::BadRequest, "the path of the request cannot be read");
    }
    segments.push_back(std::move(*decoded));
  }
  return segments;
}

void read_resource(std::vector<std::string> rest, RequestPath& out) {
  const auto is_own = [&] { return rest[2] == "status" || rest[2] == "finalize"; };
  // A namespace's own subresources look like objects inside it.
  out.in_namespace =
      rest.size() >= 3 && rest[0] == "namespaces" && (!out.group.empty() || !is_own());
  if (out.in_namespace) {
    out.ns = rest[1];
    rest.erase(rest.begin(), rest.begin() + 2);
  }
  out.is_resource = rest.size() <= 3;
  out.plural = rest[0];
  if (rest.size() > 1) out.name = rest[1];
  if (rest.size() > 2) out.subresource = rest[2];
}

}  // namespace

Result<Query> Query::parse(std::string_view text) {
  Query query;
  for (const std::string_view part : split(text, '&')) {
    if (part.empty()) continue;
    const auto equals = part.find('=');
    auto name = decode_query(part.substr(0, equals));
    auto value = decode_query(equals == std::string_view::npos ? "" : part.substr(equals + 1));
    if (!name || !value) {
      return fail(ErrorCode::BadRequest, "the query of the request cannot be read");
    }
    query.values_.emplace_back(std::move(*name), std::move(*value));
  }
  return query;
}

std::string_view Query::get(std::string_view name) const {
  const auto found = std::ranges::find(values_, name, &std::pair<std::string, std::string>::first);
  return found == values_.end() ? std::string_view() : found->second;
}

bool Query::has(std::string_view name) const {
  return std::ranges::any_of(values_, [&](const auto& pair) { return pair.first == name; });
}

bool Query::flag(std::string_view name) const {
  const std::string_view value = get(name);
  return has(name) && value != "0" && !equal_ignoring_case(value, "false");
}

Result<std::optional<std::int64_t>> Query::number(std::string_view name) const {
  if (!has(name) || get(name).empty()) return std::nullopt;
  const auto value = parse_int(get(name));
  if (!value) {
    return fail(ErrorCode::BadRequest,
                fmt::format("{}: Invalid value: \"{}\": must be a whole number", name, get(name)));
  }
  return value;
}

Result<RequestPath> RequestPath::parse(std::string_view text) {
  RequestPath out;
  const auto question = text.find('?');
  out.text = std::string(text.substr(0, question));
  if (question != std::string_view::npos) out.query = TRY(Query::parse(text.substr(question + 1)));
  std::vector<std::string> segments = TRY(path_segments(out.text));
  if (segments.size() >= 3 && segments[0] == "api" && segments[1] == "v1") {
    out.version = "v1";
    read_resource({segments.begin() + 2, segments.end()}, out);
  } else if (segments.size() >= 4 && segments[0] == "apis") {
    out.group = segments[1];
    out.version = segments[2];
    read_resource({segments.begin() + 3, segments.end()}, out);
  }
  return out;
}

}  // namespace muster::server
