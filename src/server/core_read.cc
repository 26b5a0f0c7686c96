#include <fmt/format.h>

#include "api/object.h"
#include "base/strings.h"
#include "server/core.h"
#include "server/rules/admission.h"

namespace muster::server {
namespace {

constexpr Duration kListWait = std::chrono::seconds(3);

// Where a list goes on: the version that it shows, and the last key that was given.
std::string write_token(Version version, const ObjectKey& last) {
  return base64_encode(fmt::format("{}/{}/{}", version, last.ns, last.name));
}

bool read_token(std::string_view text, Version& version, ObjectKey& last) {
  const auto decoded = base64_decode(text);
  if (!decoded) return false;
  const auto parts = split(*decoded, '/');
  const auto number = parts.size() == 3 ? parse_int(parts[0]) : std::nullopt;
  if (!number || *number < 0) return false;
  version = static_cast<Version>(*number);
  last = {.ns = std::string(parts[1]), .name = std::string(parts[2])};
  return true;
}

Result<Version> parse_version(std::string_view text) {
  if (text.empty()) return Version{0};
  const auto number = parse_int(text);
  if (!number || *number < 0) {
    return fail(
        ErrorCode::BadRequest,
        fmt::format("Invalid value: \"{}\": resourceVersion must be a decimal number", text));
  }
  return static_cast<Version>(*number);
}

Error expired(Version version) {
  return {.code = ErrorCode::Gone,
          .message = fmt::format("too old resource version: {}; list again", version),
          .causes = {},
          .retry_after = std::nullopt};
}

}  // namespace

Result<ObjectPtr> Core::get(const Kind& kind, const ObjectKey& key) const {
  ObjectPtr found = journal_.table(kind).find_seen(key);
  if (found == nullptr) return fail(not_found(kind, key.name));
  return found;
}

Task<Result<ListPage>> Core::list(const Kind& kind, ListOptions options) {
  const Version wanted = CO_TRY(parse_version(options.resource_version));
  if (wanted > journal_.committed()) {
    CO_TRY(co_await wait_until_seen(wanted));
  }
  co_return page_of(journal_.table(kind), options);
}

Task<Result<void>> Core::wait_until_seen(Version version) {
  const Monotonic until = loop_.monotonic() + kListWait;
  while (journal_.committed() < version) {
    const Duration left = until - loop_.monotonic();
    if (left <= Duration::zero()) {
      co_return fail(
          Error{.code = ErrorCode::Timeout,
                .message = fmt::format("Timeout: Too large resource version: {}, current: {}",
                                       version, journal_.committed()),
                .causes = {{.field = "",
                            .reason = "ResourceVersionTooLarge",
                            .message = "Too large resource version"}},
                .retry_after = std::chrono::seconds(1)});
    }
    const auto news = co_await rt::with_timeout(loop_, left, journal_.progress().wait());
    if (!news && news.error().code != ErrorCode::Timeout) co_return fail(news.error());
  }
  co_return Result<void>{};
}

// The objects as they were at the version that the options ask for, or that the token was made at.
Result<Table::Objects> Core::objects_at(const Table& table, const ListOptions& options,
                                        Version& version, ObjectKey& after) const {
  if (!options.continue_token.empty()) {
    if (!read_token(options.continue_token, version, after)) {
      return fail(ErrorCode::BadRequest, "continue key is not valid");
    }
  } else if (options.resource_version_match == "Exact") {
    version = TRY(parse_version(options.resource_version));
  }
  if (version > journal_.committed())
    return fail(ErrorCode::BadRequest, "continue key is not valid");
  auto objects = table.snapshot(version);
  if (!objects) return fail(expired(version));
  return std::move(*objects);
}

Result<ListPage> Core::page_of(const Table& table, const ListOptions& options) const {
  const Selector selector = TRY(Selector::make(table.kind(), options.where));
  Version version = journal_.committed();
  ObjectKey after;
  Table::Objects past;
  const Table::Objects* objects = &table.seen();
  const bool old = !options.continue_token.empty() || options.resource_version_match == "Exact";
  if (old) {
    past = TRY(objects_at(table, options, version, after));
    objects = &past;
  }
  ListPage page;
  page.resource_version = std::to_string(version);
  auto at = options.continue_token.empty() ? objects->lower_bound({.ns = selector.ns(), .name = ""})
                                           : objects->upper_bound(after);
  ObjectKey last;
  for (; at != objects->end(); ++at) {
    const auto& [key, object] = *at;
    if (!selector.ns().empty() && key.ns != selector.ns()) break;
    if (!selector.matches(*object)) continue;
    if (options.limit > 0 && page.items.size() >= static_cast<std::size_t>(options.limit)) {
      page.continue_token = write_token(version, last);
      break;
    }
    last = key;
    page.items.push_back(object);
  }
  return page;
}

Result<std::unique_ptr<Watcher>> Core::watch(const Kind& kind, WatchOptions options) {
  Selector selector = TRY(Selector::make(kind, options.where));
  Version from = TRY(parse_version(options.resource_version));
  Table& table = journal_.table(kind);
  std::vector<ObjectPtr> initial;
  if (from == 0 || options.initial_events) {
    from = journal_.committed();
    for (const auto& [key, object] : table.seen()) {
      if (selector.matches(*object)) initial.push_back(object);
    }
  } else if (from < table.floor()) {
    return fail(ErrorCode::Gone,
                fmt::format("too old resource version: {} ({})", from, table.floor()));
  }
  return std::make_unique<Watcher>(journal_.hub(), table, std::move(selector), std::move(options),
                                   from, std::move(initial));
}

}  // namespace muster::server
