#pragma once

#include <string>
#include <vector>

namespace muster::cli {

// Rows under a header, columns as wide as their widest cell, two or three spaces between: kubectl's
// layout.
std::string columns(const std::vector<std::vector<std::string>>& rows);

}  // namespace muster::cli
