#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace muster::cli {

// Rows under a header, columns as wide as a terminal shows their widest cell, three spaces between:
// kubectl's layout. Each row is one line, and nothing in it steers a terminal.
std::string columns(const std::vector<std::vector<std::string>>& rows);

// The same for rows that come later under the same header: widths only grow.
std::string columns(const std::vector<std::vector<std::string>>& rows,
                    std::vector<std::size_t>& widths);

}  // namespace muster::cli
