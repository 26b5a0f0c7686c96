#pragma once

#include <string>

#include "agent/environment.h"
#include "base/error.h"

namespace muster::agent::paddle_legacy {

// What the manifest of a training Job says through its environment.
struct Settings {
  std::string job_name;
  std::string job_namespace;
  std::string job_path;          // where the shared file system is mounted
  std::string config_directory;  // below the job's root
  std::string nic;
  int port = 0;
  int ports_num = 0;         // ports for dense parameters, from `port` on
  int ports_num_sparse = 0;  // ports for sparse ones, after those
  int gradient_num = 0;      // how many pods train
  int trainer_count = 1;     // threads of a trainer

  // Data, configuration and output of this job.
  [[nodiscard]] std::string root() const { return job_path + "/" + job_name; }
  [[nodiscard]] std::string output() const { return root() + "/output"; }
};

// `pod_namespace` takes the place of a JOB_NAMESPACE that is not set; empty: it is not known. All
// that is missing is named at once.
Result<Settings> read_settings(const Environment& environment, const std::string& pod_namespace);

}  // namespace muster::agent::paddle_legacy
