#include "node/agent/gpus.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <fmt/format.h>

#include "api/object.h"
#include "api/quantity.h"
#include "json/read.h"
#include "json/write.h"
#include "node/network/hosts_file.h"

namespace muster::node {

namespace {

namespace fs = std::filesystem;

std::size_t wanted_gpus(const json::Value& container) {
  const auto& limits = container["resources"]["limits"].as_object();
  const auto& requests = container["resources"]["requests"].as_object();
  const auto* value = limits.find(kGpuResource);
  if (value == nullptr) value = requests.find(kGpuResource);
  if (value == nullptr) return 0;
  const auto quantity = api::Quantity::from(*value);
  return quantity ? static_cast<std::size_t>(std::max<std::int64_t>(0, quantity->whole())) : 0;
}

json::Value to_json(const GpuAllocator::ByContainer& assigned) {
  json::Object out;
  for (const auto& [container, uuids] : assigned) {
    json::Array list;
    for (const auto& uuid : uuids) list.emplace_back(uuid);
    out.set(container, std::move(list));
  }
  return out;
}

}  // namespace

Result<GpuAllocator> GpuAllocator::create(std::string directory, std::vector<std::string> uuids) {
  std::error_code error;
  fs::create_directories(directory, error);
  if (error) return fail(ErrorCode::Io, fmt::format("mkdir {}: {}", directory, error.message()));
  GpuAllocator out(directory, std::move(uuids));
  for (auto it = fs::directory_iterator(directory, error); !error && it != fs::directory_iterator();
       it.increment(error)) {
    std::ifstream in(it->path(), std::ios::binary);
    const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
    const auto value = json::read(text);
    auto& assigned = out.assigned_[it->path().filename().string()];
    if (!value) continue;  // torn by a crash before its container could start
    for (const auto& [container, list] : value->as_object()) {
      for (const auto& uuid : list.as_array()) {
        if (std::ranges::find(out.uuids_, uuid.as_string()) != out.uuids_.end()) {
          assigned[container].push_back(uuid.as_string());
        }
      }
    }
  }
  return out;
}

std::string GpuAllocator::record_of(const std::string& pod_uid) const {
  return directory_ + "/" + pod_uid;
}

bool GpuAllocator::taken(const std::string& uuid) const {
  return std::ranges::any_of(assigned_, [&](const auto& pod) {
    return std::ranges::any_of(pod.second, [&](const auto& container) {
      return std::ranges::find(container.second, uuid) != container.second.end();
    });
  });
}

std::size_t GpuAllocator::free() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(uuids_, [this](const auto& uuid) { return !taken(uuid); }));
}

Result<std::optional<GpuAllocator::ByContainer>> GpuAllocator::assign(const json::Value& pod) {
  const auto& uid = api::uid_of(pod);
  std::map<std::string, std::size_t> wanted;
  std::size_t total = 0;
  for (const auto& container : pod["spec"]["containers"].as_array()) {
    const auto count = wanted_gpus(container);
    if (count > 0) wanted[container["name"].as_string()] = count;
    total += count;
  }
  if (total == 0) return ByContainer{};
  const auto known = assigned_.find(uid);
  if (known != assigned_.end() && !known->second.empty()) return known->second;
  if (free() < total) return std::nullopt;

  ByContainer out;
  auto next = uuids_.begin();
  for (const auto& [container, count] : wanted) {
    while (out[container].size() < count) {
      if (!taken(*next)) out[container].push_back(*next);
      ++next;
    }
  }
  TRY(rewrite_in_place(record_of(uid), json::write(to_json(out))));
  assigned_[uid] = out;
  return out;
}

void GpuAllocator::forget(const std::string& pod_uid) {
  assigned_.erase(pod_uid);
}

std::vector<std::string> GpuAllocator::holders() const {
  std::vector<std::string> out;
  for (const auto& [uid, assigned] : assigned_) out.push_back(uid);
  return out;
}

}  // namespace muster::node
