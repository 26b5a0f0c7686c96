#include "cli/describe/description.h"

#include <fmt/format.h>

#include "base/strings.h"
#include "cli/query/jsonpath.h"
#include "cli/terminal/columns.h"

namespace muster::cli {
namespace {

constexpr std::string_view kNone = "<none>";

}  // namespace

void Description::line(std::size_t indent, std::string_view label, std::string_view value) {
  const std::string head = fmt::format("{}{}:", std::string(indent, ' '), label);
  text_ += fmt::format("{:<{}} {}\n", head, label_width_, value.empty() ? kNone : printable(value));
}

void Description::line_if(std::size_t indent, std::string_view label, std::string_view value) {
  if (!value.empty()) line(indent, label, value);
}

void Description::lines(std::size_t indent, std::string_view label,
                        const std::vector<std::string>& values) {
  line(indent, label, values.empty() ? std::string_view() : values.front());
  for (std::size_t i = 1; i < values.size(); ++i)
    text_ += fmt::format("{} {}\n", std::string(label_width_, ' '), printable(values[i]));
}

void Description::heading(std::size_t indent, std::string_view label, std::string_view word) {
  if (!word.empty()) {
    line(indent, label, word);
    return;
  }
  text_ += fmt::format("{}{}:\n", std::string(indent, ' '), label);
}

void Description::table(std::string_view label, const std::vector<std::vector<std::string>>& rows) {
  heading(0, label);
  if (rows.size() <= 1) {
    text_ += "  none\n";
    return;
  }
  auto shown = rows;
  for (auto& row : shown) row.front().insert(0, "  ");
  text_ += columns(shown);
}

std::vector<std::string> pairs_of(const json::Value& members) {
  std::vector<std::string> pairs;
  for (const auto& [key, value] : members.as_object())
    pairs.push_back(fmt::format("{}={}", key, shortened(shown_result(value), 200)));
  return pairs;
}

}  // namespace muster::cli
