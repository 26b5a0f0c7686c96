#pragma once

#include <string>
#include <vector>

#include "json/value.h"

// What a check of `muster doctor` found.
namespace muster::cli {

enum class Health {
  Ok,
  Warning,  // jobs run, but something that people count on does not
  Error,    // jobs do not run
};

struct Finding {
  Health health = Health::Ok;
  std::string check;  // what was looked at, in a word or two
  std::string found;
  std::string remedy;  // of everything that is not Ok
};

// A line for each, with its remedy behind it, and how many there are of each sort.
std::string findings_text(const std::vector<Finding>& findings);
// {"checks": [{check, health, found, remedy}…], "errors": 1, "warnings": 0}
json::Value findings_json(const std::vector<Finding>& findings);
bool has_error(const std::vector<Finding>& findings);

}  // namespace muster::cli
