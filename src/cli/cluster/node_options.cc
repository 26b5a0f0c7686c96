#include "cli/cluster/node_options.h"

#include <sys/sysinfo.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include <fmt/format.h>

#include "node/runtime/runtime.h"
#include "yaml/yaml.h"

namespace muster::cli {
namespace {

namespace fs = std::filesystem;

Result<node::ImageRow> image_row(const json::Value& row, const std::string& file,
                                 std::size_t number) {
  const auto bad = [&](std::string_view what) {
    return fail(ErrorCode::Invalid, fmt::format("{}: row {}: {}", file, number, what));
  };
  node::ImageRow image;
  image.pattern = row["pattern"].as_string();
  if (image.pattern.empty()) return bad("pattern is missing, for example \"team/*\"");
  const json::Value& rootfs = row["rootfs"];
  if (rootfs.is_null() || rootfs.as_string() == "host") {
    image.root = node::ImageRow::Root::Host;
  } else if (rootfs.is_string()) {
    image.root = node::ImageRow::Root::Directory;
    image.directory = rootfs.as_string();
  } else if (rootfs["overHost"].is_string()) {
    image.root = node::ImageRow::Root::DirectoryOverHost;
    image.directory = rootfs["overHost"].as_string();
  } else {
    return bad("rootfs is host, a directory, or {overHost: a directory}");
  }
  if (!image.directory.empty() && !fs::is_directory(image.directory))
    return bad(image.directory + " is not a directory");
  for (const json::Value& word : row["entrypoint"].as_array())
    image.entrypoint.push_back(word.as_string());
  for (const json::Value& word : row["cmd"].as_array()) image.cmd.push_back(word.as_string());
  for (const auto& [name, value] : row["env"].as_object()) image.env[name] = value.as_string();
  image.workdir = row["workdir"].as_string();
  return image;
}

Result<std::vector<node::ImageRow>> read_images(const std::string& home) {
  const std::string path = home + "/images.yaml";
  std::ifstream file(path, std::ios::binary);
  std::vector<node::ImageRow> rows;
  if (!file) return rows;
  std::ostringstream text;
  text << file.rdbuf();
  const auto documents = yaml::read(text.str());
  if (!documents) return fail(documents.error().in(path));
  for (const auto& document : *documents) {
    const json::Value& list = document.value.is_array() ? document.value : document.value["images"];
    for (const json::Value& row : list.as_array())
      rows.push_back(TRY(image_row(row, path, rows.size() + 1)));
  }
  return rows;
}

// A program that is built and installed beside this one.
fs::path beside_us(const char* name) {
  std::error_code error;
  return fs::read_symlink("/proc/self/exe", error).parent_path() / name;
}

// Jobs that do without it are none the worse, so its absence is said and nothing more.
std::string find_agent(const Logger& log) {
  const auto agent = beside_us("muster-agent");
  std::error_code error;
  if (fs::exists(agent, error)) return agent.string();
  log.warning("{} is missing: containers have no {}", agent.string(), node::kAgentPath);
  return {};
}

// The GPUs by UUID, as the kernel driver lists them.
std::vector<std::string> gpu_uuids() {
  std::vector<std::string> uuids;
  std::error_code error;
  for (const auto& gpu : fs::directory_iterator("/proc/driver/nvidia/gpus", error)) {
    std::ifstream information(gpu.path() / "information");
    for (std::string line; std::getline(information, line);) {
      if (const auto at = line.find("GPU-"); at != std::string::npos)
        uuids.push_back(line.substr(at));
    }
  }
  return uuids;
}

}  // namespace

Result<node::NodeOptions> node_options(const Context& context, const std::string& name) {
  node::NodeOptions options;
  options.name = name;
  options.directory = context.home + "/node";
  options.memory_directory = "/dev/shm/muster-node-" + node::home_key(context.home);
  options.cpu_milli = static_cast<std::int64_t>(std::thread::hardware_concurrency()) * 1000;
  struct sysinfo information{};
  if (::sysinfo(&information) == 0) {
    options.memory_bytes = static_cast<std::int64_t>(information.totalram) * information.mem_unit;
  }
  // One bridge block holds about a thousand pods; processes are cheaper than containers.
  options.pods = 1000;
  options.gpu_uuids = gpu_uuids();
  options.images = TRY(read_images(context.home));
  options.agent_program = find_agent(context.log.named("node"));
  for (const auto* variable : {"PATH", "HOME", "LD_LIBRARY_PATH", "VIRTUAL_ENV"}) {
    if (!context.env(variable).empty()) options.environment[variable] = context.env(variable);
  }
  return options;
}

std::string node_name(std::string_view host) {
  constexpr std::size_t kLongest = 63;  // it is the value of a label, too
  std::string name;
  for (const char c : host.substr(0, kLongest)) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    const bool capital = c >= 'A' && c <= 'Z';
    // Two dots, or a dot beside a dash, are no name either.
    const bool dot = c == '.' && !name.empty() && name.back() != '-' && name.back() != '.';
    if (letter || dot) {
      name += c;
    } else if (capital) {
      name += static_cast<char>(c - 'A' + 'a');
    } else if (!name.empty() && name.back() != '.') {
      name += '-';
    }
  }
  while (!name.empty() && (name.back() == '-' || name.back() == '.')) name.pop_back();
  return name.empty() ? "localhost" : name;
}

std::string node_name() {
  char host[256] = {};
  return ::gethostname(host, sizeof host - 1) == 0 ? node_name(host) : node_name("");
}

Result<std::string> find_shim() {
  const auto shim = beside_us("muster-shim");
  std::error_code error;
  if (!fs::exists(shim, error)) {
    return fail(ErrorCode::NotFound,
                fmt::format("{} is missing; it is built and installed together with muster",
                            shim.string()));
  }
  return shim.string();
}

}  // namespace muster::cli
