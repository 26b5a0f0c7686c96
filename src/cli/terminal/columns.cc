#include "cli/terminal/columns.h"

#include <algorithm>

namespace muster::cli {

std::string columns(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths;
  return columns(rows, widths);
}

std::string columns(const std::vector<std::vector<std::string>>& rows,
                    std::vector<std::size_t>& widths) {
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string out;
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      out += row[i];
      if (i + 1 < row.size()) out.append(widths[i] - row[i].size() + 3, ' ');
    }
    out += '\n';
  }
  return out;
}

}  // namespace muster::cli
