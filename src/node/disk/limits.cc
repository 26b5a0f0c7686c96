#include "node/disk/limits.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "api/quantity.h"

namespace muster::node {

namespace {

constexpr std::int64_t kKibi = 1024;
constexpr std::int64_t kMebi = kKibi * kKibi;

std::optional<std::int64_t> bytes_at(const json::Value& value) {
  if (value.is_null()) return std::nullopt;
  const auto parsed = api::Quantity::from(value);
  return parsed ? std::optional(parsed->whole()) : std::nullopt;
}

struct Demand {
  std::optional<std::int64_t> limit;
  std::int64_t request = 0;
};

Demand demand_of(const json::Value& container) {
  const auto& resources = container["resources"];
  Demand out{.limit = bytes_at(resources["limits"][kDiskResource])};
  out.request = bytes_at(resources["requests"][kDiskResource]).value_or(out.limit.value_or(0));
  return out;
}

}  // namespace

DiskLimits disk_limits(const json::Value& pod) {
  DiskLimits out{.pod = 0};
  for (const auto& container : pod["spec"]["containers"].as_array()) {
    const auto demand = demand_of(container);
    if (demand.limit) out.containers[container["name"].as_string()] = *demand.limit;
    out.pod = out.pod && demand.limit ? std::optional(*out.pod + *demand.limit) : std::nullopt;
    out.request += demand.request;
  }
  // They run before the others, one at a time: the largest counts.
  for (const auto& container : pod["spec"]["initContainers"].as_array()) {
    const auto demand = demand_of(container);
    if (demand.limit) out.containers[container["name"].as_string()] = *demand.limit;
    if (out.pod && demand.limit) out.pod = std::max(*out.pod, *demand.limit);
    out.request = std::max(out.request, demand.request);
  }
  for (const auto& volume : pod["spec"]["volumes"].as_array()) {
    // A limit of nothing is none, as with kubelets.
    const auto limit = bytes_at(volume["emptyDir"]["sizeLimit"]);
    if (limit && *limit > 0) out.volumes[volume["name"].as_string()] = *limit;
  }
  return out;
}

std::int64_t disk_reserve(const DiskSpace& space) {
  return std::min(space.total / 10, 256 * kMebi);
}

bool lacks_files(const DiskSpace& space) {
  return space.files > 0 && space.free_files < space.files / 50;
}

bool is_full(const DiskSpace& space) {
  return space.total > 0 && (space.available < disk_reserve(space) || lacks_files(space));
}

bool runs_low(const DiskSpace& space) {
  const auto enough = std::max(space.total / 10, 1024 * kMebi);
  const bool few_files = space.files > 0 && space.free_files < space.files / 10;
  return few_files || space.available < std::min(enough, space.total / 2);
}

std::int64_t fair_share(const DiskSpace& space, std::int64_t taken_by_pods) {
  const auto reserve = disk_reserve(space);
  return std::max((space.available + taken_by_pods - reserve) / 2, reserve / 2);
}

std::string bytes_text(std::int64_t bytes) {
  constexpr std::array kUnits{"", "Ki", "Mi", "Gi", "Ti"};
  auto amount = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; amount >= 1024 && unit + 1 < kUnits.size(); ++unit) amount /= 1024;
  auto text = fmt::format("{:.1f}", amount);
  if (text.ends_with(".0")) text.resize(text.size() - 2);
  return text + kUnits[unit];
}

}  // namespace muster::node
