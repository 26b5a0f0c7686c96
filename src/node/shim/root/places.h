#pragma once

#include <string>
#include <vector>

#include "base/error.h"

// Where something is mounted there has to be a file or a directory.
namespace muster::node::shim {

struct Place {
  std::string path;  // without links
  bool directory = true;
};

// Those that the machine's root file system lacks, in a directory to be laid over it, with the
// directories above them as the machine has them. What is on another file system, or in a directory
// that every container has anew, is left out. False: nothing is missing, and nothing was made.
Result<bool> make_missing_places(const std::vector<Place>& wanted, const std::string& layer);

}  // namespace muster::node::shim
