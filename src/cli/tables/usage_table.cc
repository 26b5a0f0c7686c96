#include "cli/tables/usage_table.h"

#include <algorithm>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "api/object.h"
#include "api/pod.h"
#include "api/quantity.h"
#include "base/strings.h"
#include "cli/terminal/columns.h"
#include "plan/plan.h"

namespace muster::cli {
namespace {

constexpr const char* kGpu = "nvidia.com/gpu";
constexpr const char* kGpuMemory = "nvidia.com/gpu-memory";
constexpr std::int64_t kMebi = std::int64_t{1} << 20U;
constexpr std::int64_t kGibi = std::int64_t{1} << 30U;

std::string job_of(const json::Value& pod) {
  for (const json::Value& owner : pod["metadata"]["ownerReferences"].as_array()) {
    if (owner["controller"].as_bool()) return owner["name"].as_string();
  }
  return "";
}

std::int64_t gpus_of(const json::Value& pod) {
  std::int64_t count = 0;
  for (const json::Value& container : pod["spec"]["containers"].as_array()) {
    const auto wanted = api::Quantity::from(container["resources"]["limits"][kGpu]);
    if (wanted) count += wanted->whole();
  }
  return count;
}

void add(std::optional<std::int64_t>& sum, std::int64_t more) {
  sum = sum.value_or(0) + more;
}

void add_metrics(RankUsage& rank, const json::Value& metrics) {
  rank.known = true;
  for (const json::Value& container : metrics["containers"].as_array()) {
    const json::Value& usage = container["usage"];
    const auto amount = [&](const char* name) { return api::Quantity::from(usage[name]); };
    if (const auto cpu = amount("cpu")) rank.cpu_milli += cpu->milli();
    if (const auto memory = amount("memory")) rank.memory_bytes += memory->whole();
    if (const auto gpu = amount(kGpu)) add(rank.gpu_milli, gpu->milli());
    if (const auto memory = amount(kGpuMemory)) add(rank.gpu_memory_bytes, memory->whole());
  }
}

std::string shown_bytes(std::int64_t bytes) {
  if (bytes >= 10 * kGibi) return fmt::format("{}Gi", bytes / kGibi);
  if (bytes >= kGibi)
    return fmt::format("{:.1f}Gi", static_cast<double>(bytes) / static_cast<double>(kGibi));
  return fmt::format("{}Mi", bytes / kMebi);
}

std::string shown_gpus(const RankUsage& rank) {
  if (rank.gpus == 0) return "-";
  if (!rank.gpu_milli) return fmt::format("?/{}", rank.gpus);
  return fmt::format("{:.2f}/{}", static_cast<double>(*rank.gpu_milli) / 1000.0, rank.gpus);
}

std::string shown_rank(const RankUsage& rank) {
  return rank.role.empty() ? "-" : fmt::format("{}-{}", to_lower(rank.role), rank.rank);
}

}  // namespace

std::vector<RankUsage> usage_of(const std::vector<cluster::ObjectPtr>& pods,
                                const std::vector<cluster::ObjectPtr>& metrics) {
  std::map<api::ObjectKey, const json::Value*> known;
  for (const auto& one : metrics) known[api::key_of(*one)] = one.get();
  std::vector<RankUsage> ranks;
  for (const auto& pod : pods) {
    if (api::phase_of(*pod) != api::PodPhase::Running) continue;
    RankUsage rank{
        .job = job_of(*pod),
        .role = api::label_of(*pod, plan::labels::kRole),
        .rank = static_cast<int>(parse_int(api::label_of(*pod, plan::labels::kIndex)).value_or(0)),
        .ns = api::namespace_of(*pod),
        .pod = api::name_of(*pod),
        .node = api::node_name_of(*pod),
        .gpus = gpus_of(*pod)};
    if (const auto found = known.find(api::key_of(*pod)); found != known.end())
      add_metrics(rank, *found->second);
    ranks.push_back(std::move(rank));
  }
  std::ranges::sort(ranks, {}, [](const RankUsage& rank) {
    return std::tuple(rank.ns, rank.job, rank.role, rank.rank, rank.pod);
  });
  return ranks;
}

std::vector<std::string> usage_lines(const std::vector<RankUsage>& ranks) {
  std::vector<std::vector<std::string>> rows = {
      {"JOB", "RANK", "CPU", "MEMORY", "GPU", "GPU-MEMORY", "POD", "NODE"}};
  for (const RankUsage& rank : ranks) {
    rows.push_back({rank.job.empty() ? "-" : rank.job, shown_rank(rank),
                    rank.known ? fmt::format("{}m", rank.cpu_milli) : "?",
                    rank.known ? shown_bytes(rank.memory_bytes) : "?", shown_gpus(rank),
                    rank.gpu_memory_bytes ? shown_bytes(*rank.gpu_memory_bytes) : "-", rank.pod,
                    rank.node});
  }
  std::vector<std::string> lines;
  for (const auto line : split(columns(rows), '\n')) {
    if (!line.empty()) lines.emplace_back(line);
  }
  const bool hidden = std::ranges::any_of(
      ranks, [](const RankUsage& rank) { return rank.gpus > 0 && !rank.gpu_milli; });
  if (hidden) lines.emplace_back("How busy the GPUs are is not known here.");
  return lines;
}

json::Value usage_json(const std::vector<RankUsage>& ranks) {
  json::Array list;
  for (const RankUsage& rank : ranks) {
    json::Object one{{"namespace", rank.ns}, {"job", rank.job}, {"role", rank.role},
                     {"rank", rank.rank},    {"pod", rank.pod}, {"node", rank.node},
                     {"gpus", rank.gpus}};
    if (rank.known) {
      one.set("cpuMilli", rank.cpu_milli);
      one.set("memoryBytes", rank.memory_bytes);
    }
    if (rank.gpu_milli) one.set("gpuMilli", *rank.gpu_milli);
    if (rank.gpu_memory_bytes) one.set("gpuMemoryBytes", *rank.gpu_memory_bytes);
    list.emplace_back(std::move(one));
  }
  return list;
}

}  // namespace muster::cli
