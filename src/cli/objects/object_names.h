#pragma once

#include <string>
#include <vector>

#include "cli/jobs/resource_names.h"

namespace muster::cli {

// Something as a user names it.
struct ObjectName {
  std::vector<NamedResource> kinds;  // several: a job, of whatever kind
  std::string name;
  bool bare = false;  // NAME alone: a job, and for some verbs a pod if there is no such job

  [[nodiscard]] bool is_job() const { return kinds.front().dialect != nullptr; }
};

// NAME, or TYPE/NAME as `get -o name` prints it, with a type of resources_named().
Result<ObjectName> parse_name(const plan::Registry& registry, const std::string& word);

// What follows a verb: any number of these, or TYPE NAME…. A first word that names a resource is
// one if names follow it. BadRequest is wrong usage.
Result<std::vector<ObjectName>> parse_names(const plan::Registry& registry,
                                            const std::vector<std::string>& words);

// The same where a verb takes one of them.
Result<ObjectName> parse_only_name(const plan::Registry& registry,
                                   const std::vector<std::string>& words);

}  // namespace muster::cli
