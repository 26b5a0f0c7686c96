#include "cli/objects/object_names.h"

#include <fmt/format.h>

#include "base/strings.h"

namespace muster::cli {
namespace {

Result<std::vector<ObjectName>> names_of_one_type(const std::vector<NamedResource>& kinds,
                                                  const std::vector<std::string>& words) {
  std::vector<ObjectName> names;
  for (std::size_t i = 1; i < words.size(); ++i) {
    if (words[i].find('/') != std::string::npos) {
      return fail(ErrorCode::BadRequest,
                  fmt::format("{} {}: a type is given once: TYPE NAME… or TYPE/NAME…",
                              printable(words.front()), printable(words[i])));
    }
    names.push_back({.kinds = kinds, .name = words[i]});
  }
  return names;
}

}  // namespace

Result<ObjectName> parse_name(const plan::Registry& registry, const std::string& word) {
  const auto slash = word.find('/');
  if (slash == std::string::npos)
    return ObjectName{.kinds = TRY(resources_named(registry, "jobs")), .name = word, .bare = true};
  if (slash + 1 == word.size() || word.find('/', slash + 1) != std::string::npos) {
    return fail(ErrorCode::BadRequest,
                fmt::format("\"{}\" is neither NAME nor TYPE/NAME", printable(word)));
  }
  return ObjectName{.kinds = TRY(resources_named(registry, word.substr(0, slash))),
                    .name = word.substr(slash + 1)};
}

Result<std::vector<ObjectName>> parse_names(const plan::Registry& registry,
                                            const std::vector<std::string>& words) {
  if (words.size() >= 2 && words.front().find('/') == std::string::npos) {
    const auto kinds = resources_named(registry, words.front());
    if (kinds) return names_of_one_type(*kinds, words);
    if (kinds.error().code != ErrorCode::NotFound) return fail(kinds.error());
  }
  std::vector<ObjectName> names;
  for (const std::string& word : words) names.push_back(TRY(parse_name(registry, word)));
  return names;
}

Result<ObjectName> parse_only_name(const plan::Registry& registry,
                                   const std::vector<std::string>& words) {
  auto names = TRY(parse_names(registry, words));
  if (names.size() == 1) return std::move(names.front());
  return fail(ErrorCode::BadRequest,
              fmt::format("\"{}\": one thing at a time: NAME, TYPE/NAME or TYPE NAME",
                          printable(join(words, " "))));
}

}  // namespace muster::cli
