#pragma once

#include <string>

#include "base/error.h"
#include "base/fd.h"

namespace muster::agent {

// NotFound when there is none; at most 1 MiB is read.
Result<std::string> read_file(const std::string& path);

// The directory and those above it; success when it is there.
Result<void> make_directories(const std::string& path);

// What lies in `from` goes into `to`, which is made; files of the same name are replaced, others
// stay. NotFound when `from` is not there.
Result<void> copy_contents(const std::string& from, const std::string& to);

// A file to write a log into; an older one is emptied.
Result<Fd> create_log(const std::string& path);

}  // namespace muster::agent
