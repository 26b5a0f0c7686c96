#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

// How busy the GPUs of this machine are, as NVIDIA's own program tells it.
namespace muster::node {

struct GpuUsage {
  std::int64_t busy_milli = 0;  // thousandths of one GPU
  std::int64_t memory_bytes = 0;
  friend bool operator==(const GpuUsage&, const GpuUsage&) = default;
};

// What nvidia-smi prints for uuid,utilization.gpu,memory.used, a GPU a line; one whose figures
// cannot be read is left out.
std::map<std::string, GpuUsage> parse_gpu_usage(std::string_view text);

// By UUID; empty where the program is not there or does not answer within two seconds. Blocks.
std::map<std::string, GpuUsage> read_gpu_usage();

// What the GPUs use that a container was given, by container: of a record of GpuAllocator.
std::map<std::string, GpuUsage> usage_by_container(std::string_view record,
                                                   const std::map<std::string, GpuUsage>& gpus);

}  // namespace muster::node
