#include "node/agent/device_files.h"

#include <fnmatch.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>

#include "api/quantity.h"
#include "node/agent/gpus.h"

namespace muster::node {

namespace {

struct Row {
  const char* resource;  // a pattern, as those of the files
  std::array<const char*, 6> files;
};

constexpr std::array kTable = {
    Row{.resource = kGpuResource,
        .files = {"/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia-uvm-tools",
                  "/dev/nvidia-modeset", "/dev/nvidia-caps/*", "/dev/gdrdrv"}},
    Row{.resource = "amd.com/gpu*", .files = {"/dev/kfd", "/dev/dri/*"}},
    Row{.resource = "rdma/*", .files = {"/dev/infiniband/*"}},
    Row{.resource = "huawei.com/Ascend*",
        .files = {"/dev/davinci[0-9]*", "/dev/davinci_manager", "/dev/devmm_svm",
                  "/dev/hisi_hdc"}}};

constexpr std::array kDirectories = {"/dev", "/dev/nvidia-caps", "/dev/dri", "/dev/infiniband"};

bool matches(const char* pattern, const std::string& name) {
  return ::fnmatch(pattern, name.c_str(), FNM_PATHNAME) == 0;
}

bool is_some(const json::Value& amount) {
  const auto quantity = api::Quantity::from(amount);
  return quantity && quantity->whole() > 0;
}

bool wants(const json::Value& container, const Row& row) {
  const auto& resources = container["resources"];
  return std::ranges::any_of(std::array{"limits", "requests"}, [&](const char* bound) {
    return std::ranges::any_of(resources[bound].as_object(), [&](const auto& entry) {
      return matches(row.resource, std::string(entry.first)) && is_some(entry.second);
    });
  });
}

bool belongs(const Row& row, const std::string& file) {
  return std::ranges::any_of(
      row.files, [&](const char* pattern) { return pattern != nullptr && matches(pattern, file); });
}

}  // namespace

bool wants_device_files(const json::Value& container) {
  return std::ranges::any_of(kTable, [&](const Row& row) { return wants(container, row); });
}

std::vector<std::string> device_files(const json::Value& container, const std::vector<int>& gpus,
                                      const std::vector<std::string>& files) {
  std::vector<std::string> out;
  for (const auto& file : files) {
    const bool shared = std::ranges::any_of(
        kTable, [&](const Row& row) { return wants(container, row) && belongs(row, file); });
    const bool own = std::ranges::any_of(
        gpus, [&](int number) { return file == "/dev/nvidia" + std::to_string(number); });
    if (shared || own) out.push_back(file);
  }
  return out;
}

std::vector<std::string> list_device_files() {
  std::vector<std::string> files;
  for (const char* directory : kDirectories) {
    std::error_code error;
    for (std::filesystem::directory_iterator it(directory, error), end; !error && it != end;
         it.increment(error)) {
      std::error_code unseen;
      if (it->is_character_file(unseen)) files.push_back(it->path().string());
    }
  }
  std::ranges::sort(files);
  return files;
}

}  // namespace muster::node
