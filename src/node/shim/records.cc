#include "node/shim/records.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "node/linux/files.h"
#include "node/linux/process.h"

namespace muster::node::shim {

namespace {

std::vector<std::string> entries_of(const std::string& directory) {
  std::vector<std::string> names;
  std::error_code error;
  for (std::filesystem::directory_iterator it(directory, error), end; !error && it != end;
       it.increment(error)) {
    names.push_back(it->path().filename().string());
  }
  std::ranges::sort(names);
  return names;
}

}  // namespace

bool await_end(const std::string& pod_directory, int milliseconds) {
  const auto bytes = linux::read_file(pod_directory + "/" + kInitFile);
  if (!bytes) return true;  // it was never there, or an earlier Muster wrote nothing of it
  const auto init = decode<linux::ProcessIdentity>(*bytes);
  if (!init) return true;
  for (int waited = 0; linux::is_alive(*init); ++waited) {
    if (waited >= milliseconds) return false;
    ::usleep(1000);
  }
  return true;
}

std::string container_directory(const std::string& pod_directory, const ContainerId& id) {
  return pod_directory + "/containers/" + id.name + "/" + std::to_string(id.attempt);
}

std::string layers_directory(const std::string& pod_layers, const ContainerId& id) {
  return pod_layers + "/" + id.name + "-" + std::to_string(id.attempt);
}

ContainerId container_of_layers(const std::string& name) {
  const auto dash = name.rfind('-');
  ContainerId id;
  if (dash == std::string::npos) return id;
  const auto* end = name.data() + name.size();
  if (std::from_chars(name.data() + dash + 1, end, id.attempt).ptr == end)
    id.name = name.substr(0, dash);
  return id;
}

std::string layers_directory(const SandboxRecord& pod, const ContainerId& id) {
  return layers_directory(pod.hidden + "/pods/" + pod.spec.pod_uid, id);
}

std::string container_log(const std::string& log_directory, const ContainerId& id) {
  return log_directory + "/" + id.name + "/" + std::to_string(id.attempt) + ".log";
}

std::vector<AdoptedContainer> read_containers(const std::string& pod_directory,
                                              const std::string& log_directory) {
  std::vector<AdoptedContainer> found;
  for (const auto& name : entries_of(pod_directory + "/containers")) {
    for (const auto& number : entries_of(pod_directory + "/containers/" + name)) {
      AdoptedContainer container{.name = name};
      const auto end = number.data() + number.size();
      if (std::from_chars(number.data(), end, container.attempt).ptr != end) continue;
      const ContainerId id{name, container.attempt};
      const auto directory = container_directory(pod_directory, id);
      if (linux::exists(directory + "/failed")) continue;
      const auto bytes = linux::read_file(directory + "/started");
      if (!bytes) continue;
      const auto record = decode<StartRecord>(*bytes);
      if (!record) continue;
      container.start = {.pid = record->process.pid,
                         .started = record->started,
                         .log_path = container_log(log_directory, id)};
      if (const auto exit_bytes = linux::read_file(directory + "/exit")) {
        if (auto exit = decode<ContainerExit>(*exit_bytes)) container.exit = std::move(*exit);
      }
      found.push_back(std::move(container));
    }
  }
  std::ranges::sort(found, {}, [](const auto& c) { return std::pair(c.name, c.attempt); });
  return found;
}

}  // namespace muster::node::shim
