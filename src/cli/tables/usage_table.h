#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cluster/cluster.h"
#include "json/value.h"

// What ranks use, from pods and the metrics of the same cluster.
namespace muster::cli {

struct RankUsage {
  std::string job;  // empty: a pod of no job
  std::string role;
  int rank = 0;
  std::string ns;
  std::string pod;
  std::string node;
  bool known = false;  // whether there are metrics of it
  std::int64_t cpu_milli = 0;
  std::int64_t memory_bytes = 0;
  std::int64_t gpus = 0;                  // asked for
  std::optional<std::int64_t> gpu_milli;  // busy: 1500 is one and a half
  std::optional<std::int64_t> gpu_memory_bytes;
};

// Of the pods that run; by job, role in the order of the pods, and rank.
std::vector<RankUsage> usage_of(const std::vector<cluster::ObjectPtr>& pods,
                                const std::vector<cluster::ObjectPtr>& metrics);

// A header and a row for each; behind it what cannot be known.
std::vector<std::string> usage_lines(const std::vector<RankUsage>& ranks);

// An array of objects, documented as stable.
json::Value usage_json(const std::vector<RankUsage>& ranks);

}  // namespace muster::cli
