#include "node/runtime/log_places.h"

#include <fmt/format.h>

#include "node/shim/records.h"

namespace muster::node {

std::string logs_directory(const std::string& home) {
  return home + "/logs";
}

std::string log_directory(const std::string& home, const std::string& pod_namespace,
                          const std::string& pod_name, const std::string& pod_uid) {
  return fmt::format("{}/{}_{}_{}", logs_directory(home), pod_namespace, pod_name, pod_uid);
}

std::string log_path(const std::string& pod_directory, const std::string& container, int attempt) {
  return shim::container_log(pod_directory, {container, attempt});
}

}  // namespace muster::node
