#include <algorithm>

#include <fmt/format.h>

#include "cli/command_line/help_page.h"

namespace muster::cli {
namespace {

constexpr std::size_t kColumns = 80;
constexpr std::size_t kWidestName = 26;  // a longer one has its meaning on the next line

// Bytes that begin a character: what a terminal shows of our texts, which have no wide ones.
std::size_t width(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

// The words from `column` on, broken before `kColumns`; further lines begin at `column` too.
std::string wrapped(std::string_view text, std::size_t column) {
  std::string out;
  std::size_t at = column;
  while (!text.empty()) {
    const auto space = text.find(' ');
    const std::string_view word = text.substr(0, space);
    if (at > column && at + 1 + width(word) > kColumns) {
      out += '\n' + std::string(column, ' ');
      at = column;
    } else if (at > column) {
      out += ' ';
      ++at;
    }
    out += word;
    at += width(word);
    text.remove_prefix(space == std::string_view::npos ? text.size() : space + 1);
  }
  return out;
}

std::size_t name_column(const HelpGroup& group) {
  std::size_t widest = 0;
  for (const HelpEntry& entry : group.entries) {
    const std::size_t taken = width(entry.written);
    if (taken <= kWidestName) widest = std::max(widest, taken);
  }
  return 2 + widest + 2;
}

std::string group_text(const HelpGroup& group) {
  std::string out = fmt::format("\n{}:\n", group.title);
  const std::size_t column = name_column(group);
  for (const HelpEntry& entry : group.entries) {
    out += "  " + entry.written;
    const std::size_t taken = 2 + width(entry.written);
    if (taken + 2 > column) {
      out += '\n' + std::string(column, ' ');
    } else {
      out += std::string(column - taken, ' ');
    }
    out += wrapped(entry.meaning, column) + '\n';
  }
  return out;
}

}  // namespace

std::string summary_of(const std::string& description) {
  std::size_t end = description.size();
  for (const std::string_view stop : {". ", ": ", "; "})
    end = std::min(end, description.find(stop));
  std::string summary = description.substr(0, end);
  if (summary.ends_with('.')) summary.pop_back();
  return summary;
}

std::string help_text(const HelpPage& page) {
  std::string out;
  // Examples come first: that is what people look for.
  if (!page.examples.empty()) {
    out += "Examples:\n";
    for (const std::string& example : page.examples) out += fmt::format("  {}\n", example);
    out += '\n';
  }
  out += fmt::format("{}\n\nUsage: {}\n", wrapped(page.description, 0), page.usage);
  for (const HelpGroup& group : page.groups) out += group_text(group);
  if (!page.footer.empty()) out += fmt::format("\n{}\n", page.footer);
  return out;
}

}  // namespace muster::cli
