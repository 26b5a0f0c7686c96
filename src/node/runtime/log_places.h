#pragma once

#include <string>

// Where the logs of pods are in a home, also when the pods are gone.
namespace muster::node {

// HOME/logs
std::string logs_directory(const std::string& home);
// Of one pod, with a directory for each container.
std::string log_directory(const std::string& home, const std::string& pod_namespace,
                          const std::string& pod_name, const std::string& pod_uid);
// Of one run of a container.
std::string log_path(const std::string& pod_directory, const std::string& container, int attempt);

}  // namespace muster::node
