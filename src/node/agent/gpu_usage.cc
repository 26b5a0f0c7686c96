#include "node/agent/gpu_usage.h"

#include <cstdio>
#include <memory>
#include <optional>

#include "base/strings.h"
#include "json/read.h"

namespace muster::node {
namespace {

constexpr const char* kCommand =
    "timeout 2 nvidia-smi --query-gpu=uuid,utilization.gpu,memory.used "
    "--format=csv,noheader,nounits 2>/dev/null";

struct CloseProgram {
  void operator()(std::FILE* file) const { ::pclose(file); }
};

constexpr std::int64_t kMostMebibytes = std::int64_t{1} << 30U;  // 1 PiB: no GPU has as much

std::optional<std::int64_t> number_up_to(std::int64_t most, std::string_view text) {
  const auto number = parse_int(trim(text));
  return number && *number >= 0 && *number <= most ? number : std::nullopt;
}

}  // namespace

std::map<std::string, GpuUsage> parse_gpu_usage(std::string_view text) {
  std::map<std::string, GpuUsage> gpus;
  for (const auto line : split(text, '\n')) {
    const auto fields = split(line, ',');
    if (fields.size() != 3) continue;
    const auto percent = number_up_to(100, fields[1]);
    const auto mebibytes = number_up_to(kMostMebibytes, fields[2]);
    if (!percent || !mebibytes) continue;  // [N/A]
    gpus[std::string(trim(fields[0]))] = {.busy_milli = *percent * 10,
                                          .memory_bytes = *mebibytes * (std::int64_t{1} << 20U)};
  }
  return gpus;
}

std::map<std::string, GpuUsage> read_gpu_usage() {
  const std::unique_ptr<std::FILE, CloseProgram> program(::popen(kCommand, "re"));
  std::string text;
  char piece[4096];
  while (program != nullptr) {
    const auto count = std::fread(piece, 1, sizeof piece, program.get());
    if (count == 0) break;
    text.append(piece, count);
  }
  return parse_gpu_usage(text);
}

std::map<std::string, GpuUsage> usage_by_container(std::string_view record,
                                                   const std::map<std::string, GpuUsage>& gpus) {
  std::map<std::string, GpuUsage> out;
  const auto assigned = json::read(record);
  if (!assigned) return out;
  for (const auto& [container, uuids] : assigned->as_object()) {
    for (const json::Value& uuid : uuids.as_array()) {
      const auto found = gpus.find(uuid.as_string());
      if (found == gpus.end()) continue;
      out[container].busy_milli += found->second.busy_milli;
      out[container].memory_bytes += found->second.memory_bytes;
    }
  }
  return out;
}

}  // namespace muster::node
