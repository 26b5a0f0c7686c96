#include "cli/cluster/node_options.h"

#include <sys/sysinfo.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <thread>

#include <fmt/format.h>

#include "base/strings.h"
#include "cli/cluster/images_file.h"
#include "node/agent/gpus.h"
#include "node/runtime/host.h"
#include "node/runtime/runtime.h"

namespace muster::cli {
namespace {

namespace fs = std::filesystem;

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

// The GPUs by UUID, as the kernel driver lists them, and which device file each of them has.
void find_gpus(node::NodeOptions& options) {
  std::error_code error;
  for (const auto& gpu : fs::directory_iterator("/proc/driver/nvidia/gpus", error)) {
    std::ifstream information(gpu.path() / "information");
    std::string uuid;
    std::optional<std::int64_t> number;
    for (std::string line; std::getline(information, line);) {
      if (const auto at = line.find("GPU-"); at != std::string::npos) uuid = line.substr(at);
      if (line.starts_with("Device Minor:")) number = parse_int(trim(line.substr(13)));
    }
    if (uuid.empty()) continue;
    options.gpu_uuids.push_back(uuid);
    if (number) options.gpu_numbers[uuid] = static_cast<int>(*number);
  }
}

std::string host_name() {
  char host[256] = {};
  return ::gethostname(host, sizeof host - 1) == 0 ? host : "";
}

}  // namespace

Result<node::NodeOptions> node_options(const Context& context, const std::string& name) {
  node::NodeOptions options;
  options.name = name;
  options.host_ip = node::host_address();
  options.host_name = host_name();
  options.home = context.home;
  options.directory = context.home + "/node";
  options.memory_directory = "/dev/shm/muster-node-" + node::home_key(context.home);
  options.cpu_milli = static_cast<std::int64_t>(std::thread::hardware_concurrency()) * 1000;
  struct sysinfo information{};
  if (::sysinfo(&information) == 0) {
    options.memory_bytes = static_cast<std::int64_t>(information.totalram) * information.mem_unit;
  }
  std::error_code unknown;
  const auto disk = fs::space(context.home, unknown);
  if (!unknown) options.disk_bytes = static_cast<std::int64_t>(disk.capacity);
  // One bridge block holds about a thousand pods; processes are cheaper than containers.
  options.pods = 1000;
  find_gpus(options);
  if (context.capacity.contains(node::kGpuResource) && !options.gpu_uuids.empty()) {
    return fail(ErrorCode::Invalid,
                fmt::format("--capacity {}: this machine has {} of its own; only what a machine "
                            "does not have can be declared",
                            node::kGpuResource, options.gpu_uuids.size()));
  }
  options.declared = context.capacity;
  for (auto& written : TRY(read_images(context))) options.images.push_back(std::move(written.row));
  options.agent_program = find_agent(context.log.named("node"));
  for (const auto* variable : {"PATH", "HOME", "LD_LIBRARY_PATH", "VIRTUAL_ENV"}) {
    if (!context.env(variable).empty()) options.environment[variable] = context.env(variable);
  }
  options.tier = node::find_tier(node::home_key(context.home));
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
  return node_name(host_name());
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
