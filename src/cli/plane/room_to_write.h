#pragma once

#include <string>

namespace muster::cli {

// Whether a file of some size can be written to the disk of a home: more than one commit needs.
bool room_to_write(const std::string& home);

}  // namespace muster::cli
