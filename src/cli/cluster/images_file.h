#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "cli/context.h"
#include "node/agent/options.h"

// images.yaml: what image names mean on this machine, where nothing is pulled.
namespace muster::cli {

// A row and where it is written, for people: /home/me/.muster/images.yaml:3.
struct WrittenRow {
  node::ImageRow row;
  std::string where;
};

// The rows of one file's text. Directories are relative to that of `path`. An error names the line
// and what would be right.
Result<std::vector<WrittenRow>> parse_images(std::string_view text, const std::string& path);

// Every row that holds here, in the order in which they are looked at: those of --images, then
// those of the home.
Result<std::vector<WrittenRow>> read_images(const Context& context);

}  // namespace muster::cli
