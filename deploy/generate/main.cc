// muster-generate ROOT: writes the generated files of a checkout, those of deploy/ and
// docs/pods.md, and removes CRDs of kinds that are no more. With --check it writes nothing, names
// what differs, and ends with 1 then.
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string_view>

#include <fmt/format.h>

#include "dialects/registry.h"
#include "files.h"
#include "node/pod/admission/admission.h"

namespace {

namespace fs = std::filesystem;

std::string read(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

bool is_crd(const fs::path& path) {
  return path.extension() == ".yaml" && path.parent_path().filename() == "crds";
}

std::map<std::string, std::string> all_files(const fs::path& root) {
  std::map<std::string, std::string> files{{"docs/pods.md", muster::node::admission::document()}};
  auto deployed = muster::deploy::files_for(muster::dialects::make_registry());
  for (const auto& [name, text] : deployed) files["deploy/" + name] = text;
  for (const auto* name : {"namespace.yaml", "rbac.yaml"})
    deployed[name] = read(root / "deploy" / name);
  // Helm reads nothing outside of its chart.
  for (const auto* name : {"alerts.yaml", "dashboard.json"}) {
    files[std::string("deploy/helm/muster/files/observe/") + name] =
        read(root / "deploy/observe" / name);
  }
  files["deploy/install.yaml"] = muster::deploy::install_yaml(deployed);
  return files;
}

int generate(const fs::path& root, bool check) {
  const auto files = all_files(root);
  int stale = 0;
  const auto differs = [&](const fs::path& path) {
    fmt::print("{} {}\n", check ? "stale:" : "writing", path.string());
    ++stale;
  };
  for (const auto& [name, text] : files) {
    const fs::path path = root / name;
    if (read(path) == text) continue;
    differs(path);
    if (check) continue;
    fs::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  for (const auto* folder : {"deploy/crds", "deploy/helm/muster/files/crds"}) {
    if (!fs::exists(root / folder)) continue;
    for (const auto& entry : fs::directory_iterator(root / folder)) {
      const std::string name = fs::relative(entry.path(), root).string();
      if (!is_crd(entry.path()) || files.contains(name)) continue;
      differs(entry.path());
      if (!check) fs::remove(entry.path());
    }
  }
  if (check && stale > 0) fmt::print("run ./dev gen\n");
  return check && stale > 0 ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  const bool check = argc == 3 && std::string_view(argv[1]) == "--check";
  if (argc != 2 && !check) {
    fmt::print(stderr, "usage: muster-generate [--check] ROOT\n");
    return 2;
  }
  return generate(argv[argc - 1], check);
}
