#include "cli/manifests/recorded.h"

#include <algorithm>
#include <array>
#include <filesystem>

#include "json/write.h"
#include "node/agent/options.h"

namespace muster::cli {
namespace {

bool travels(const std::string& name) {
  constexpr std::array kNames = {"PATH", "HOME", "LD_LIBRARY_PATH", "VIRTUAL_ENV", "PYTHONPATH",
                                 "LANG", "TZ"};
  return std::ranges::find(kNames, name) != kNames.end() || name.starts_with("CONDA_");
}

}  // namespace

std::string recorded_environment(const std::map<std::string, std::string>& environment,
                                 const std::string& directory) {
  json::Object recorded;
  for (const auto& [name, value] : environment) {
    if (travels(name)) recorded.set(name, value);
  }
  if (!directory.empty()) recorded.set(node::kDirectoryVariable, directory);
  return json::write(recorded);
}

std::string current_directory() {
  std::error_code error;
  return std::filesystem::current_path(error).string();
}

}  // namespace muster::cli
