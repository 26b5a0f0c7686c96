#pragma once

#include <string>

namespace muster::cli {

// A word as a shell would have to be given it.
std::string shell_word(const std::string& text);

// A command line as it could be typed again: "muster run job.yaml". The program is called by its
// name, wherever it lies.
std::string shell_words(int argc, char** argv);

}  // namespace muster::cli
