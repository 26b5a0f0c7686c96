#include "dialects/check/findings.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/strings.h"

namespace muster::dialects {
namespace {

constexpr std::size_t kLongestName = 253;

bool is_plain_member(std::string_view name) {
  return !name.empty() && name.size() <= kLongestName && std::ranges::all_of(name, [](char c) {
    return c > ' ' && c <= '~' && c != '.' && c != '[' && c != ']' && c != '/';
  });
}

}  // namespace

Path Path::operator/(std::string_view member) const {
  // Every field of every job gets a path, so the usual case is one plain concatenation. Label keys
  // and the like hold dots: they stand in brackets, as Kubernetes writes them.
  if (!is_plain_member(member)) {
    return Path(fmt::format("{}[{}]", text_, printable(member.substr(0, kLongestName))));
  }
  std::string text;
  text.reserve(text_.size() + 1 + member.size());
  text = text_;
  if (!text.empty()) text += '.';
  text += member;
  return Path(std::move(text));
}

Path Path::operator[](std::size_t index) const {
  return Path(text_ + "[" + fmt::to_string(index) + "]");
}

FieldCause Violation::cause() const {
  return {.field = path, .reason = std::string(rule.reason), .message = message};
}

void Findings::refuse(const Path& path, const Rule& rule, std::string message) {
  if (violations.size() >= kMostViolations) return;
  violations.push_back({.path = path.text(), .rule = rule, .message = std::move(message)});
}

void Findings::note_unknown(const Path& path, std::string_view meant) {
  if (unknown.size() >= kMostUnknown) return;
  unknown.push_back({.path = path.text(), .meant = std::string(meant)});
}

}  // namespace muster::dialects
