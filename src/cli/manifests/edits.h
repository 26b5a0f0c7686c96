#pragma once

#include <map>
#include <string>
#include <vector>

#include "cli/jobs/manifest.h"

// What the command line changes in the manifests of a run.
namespace muster::cli {

// --mount DIR[:PATH][:ro]
struct MountFlag {
  std::string directory;  // absolute, and there
  std::string path;       // in the containers
  bool read_only = false;
};
Result<MountFlag> parse_mount(const std::string& text);

// --env NAME[=VALUE]; without a value it has the one of our own environment.
Result<std::pair<std::string, std::string>> parse_env(
    const std::string& text, const std::map<std::string, std::string>& environment);

// --set PATH=VALUE, the value as YAML: in every job and pod that has such a field. An error when
// none has.
Result<void> set_fields(const std::vector<std::string>& settings, std::vector<Manifest>& manifests);

// In all containers of all jobs and pods. A variable of the manifest gives way.
Result<void> add_environment(const std::vector<std::pair<std::string, std::string>>& variables,
                             std::vector<Manifest>& manifests);
Result<void> add_mounts(const std::vector<MountFlag>& mounts, std::vector<Manifest>& manifests);

}  // namespace muster::cli
