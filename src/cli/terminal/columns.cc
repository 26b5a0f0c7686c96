#include "cli/terminal/columns.h"

#include <algorithm>

#include "base/strings.h"
#include "cli/terminal/text_width.h"

namespace muster::cli {
namespace {

// Nothing that steers a terminal; a message of several lines would be several rows.
std::string in_a_row(std::string_view cell) {
  std::string text = printable(cell);
  std::ranges::replace_if(text, [](char c) { return c == '\n' || c == '\t'; }, ' ');
  return text;
}

}  // namespace

std::string columns(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths;
  return columns(rows, widths);
}

std::string columns(const std::vector<std::vector<std::string>>& rows,
                    std::vector<std::size_t>& widths) {
  std::vector<std::vector<std::string>> shown;
  for (const auto& row : rows) {
    auto& cells = shown.emplace_back();
    for (const std::string& cell : row) cells.push_back(in_a_row(cell));
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < cells.size(); ++i)
      widths[i] = std::max(widths[i], text_width(cells[i]));
  }
  std::string out;
  for (const auto& row : shown) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      out += row[i];
      if (i + 1 < row.size()) out.append(widths[i] - text_width(row[i]) + 3, ' ');
    }
    out += '\n';
  }
  return out;
}

}  // namespace muster::cli
