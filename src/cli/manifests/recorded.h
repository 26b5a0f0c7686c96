#pragma once

#include <map>
#include <string>

namespace muster::cli {

// What a job on this machine carries of its submitter, as JSON: the variables by which programs and
// modules are found and words and times are read, and the directory (as PWD).
std::string recorded_environment(const std::map<std::string, std::string>& environment,
                                 const std::string& directory);

// The directory that this process is in; empty when it is gone.
std::string current_directory();

}  // namespace muster::cli
