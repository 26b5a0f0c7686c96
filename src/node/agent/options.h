#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "node/agent/taint.h"
#include "node/agent/tier.h"

namespace muster::node {

// What a row of images.yaml says about the images that its pattern matches.
struct ImageRow {
  enum class Root { Host, Directory, DirectoryOverHost };

  std::string pattern;  // '*' stands for any run of characters
  Root root = Root::Host;
  std::string directory;  // of Directory and DirectoryOverHost
  std::vector<std::string> entrypoint;
  std::vector<std::string> cmd;
  std::map<std::string, std::string> env;
  std::string workdir;
};

// How a container that keeps ending is started again: at once, then after `first`, doubling up to
// `longest`; `reset_after` without an end forgets the past. The defaults are Kubernetes'.
struct BackOffOptions {
  Duration first = std::chrono::seconds(10);
  Duration longest = std::chrono::seconds(300);
  Duration reset_after = std::chrono::minutes(10);
};

// Everything that a node agent is told at its start.
struct NodeOptions {
  std::string name;
  std::string host_ip = "127.0.0.1";
  std::string host_name;  // the machine's own; pods in its network are called so
  std::string home;       // $MUSTER_HOME: no hostPath leads into it
  std::string directory;  // our own: volumes, hosts files, GPU assignments
  std::string
      memory_directory;  // the same on a memory file system, for secrets; empty: `directory`
  std::map<std::string, std::string> labels;
  std::optional<Taint> taint;  // that the node is registered with
  std::string pod_range;       // of our pods' addresses, where the cluster may know another
  std::int64_t cpu_milli = 1000;
  std::int64_t memory_bytes = std::int64_t{1} << 30U;
  std::int64_t disk_bytes = 0;  // of the file system that the home is on; 0: not known
  std::int64_t pods = 110;
  std::vector<std::string> gpu_uuids;
  std::map<std::string, int> gpu_numbers;  // by UUID: the N of /dev/nvidiaN
  // Extended resources that the node offers for tests although the machine has none of them.
  std::map<std::string, std::int64_t> declared;
  int endpoint_port = 0;  // where logs and exec are served; 0: nowhere
  std::string version = "v1.36.0-muster";
  std::vector<ImageRow> images;
  std::string agent_program;  // muster-agent, shown in every container; empty: this node has none
  // What pods get besides their own when their job carries none: PATH, HOME and the like.
  std::map<std::string, std::string> environment;
  std::string cluster_domain = "cluster.local";
  // Where the service default/kubernetes leads: for pods on the bridge, and for those that are in
  // the machine's own network. Without: nowhere.
  struct Endpoint {
    std::string address;
    std::uint16_t port = 0;
  };
  std::optional<Endpoint> api;
  std::optional<Endpoint> api_of_host;
  BackOffOptions back_off;
  Tier tier;
};

// Half of the node's places stay for pods that start, and of its memory what pods that are over
// have until they are removed (half a megabyte each) is a sixty-fourth at most.
inline std::size_t most_ended(const NodeOptions& options) {
  constexpr std::int64_t kMemoryForOne = 64 * (std::int64_t{512} << 10U);
  return static_cast<std::size_t>(std::min(options.pods / 2, options.memory_bytes / kMemoryForOne));
}

// Where pods' volumes lie, by their uid.
inline std::string volumes_directory(const NodeOptions& options) {
  return options.directory + "/volumes";
}
// Where their secrets and memory volumes lie, by their uid.
inline std::string secrets_directory(const NodeOptions& options) {
  const auto& base =
      options.memory_directory.empty() ? options.directory : options.memory_directory;
  return base + "/secrets";
}

// Where containers find the node's muster-agent.
inline constexpr const char* kAgentPath = "/muster/bin/muster-agent";
// The submitter's PATH, HOME and the like as a JSON object; the controller copies it from the job.
inline constexpr const char* kEnvironmentAnnotation = "muster.dev/environment";
// Among them: the directory in which the job was submitted. No variable of the containers.
inline constexpr const char* kDirectoryVariable = "PWD";
// In the status of a pod that has ended: how many files it wrote below that directory and lost.
inline constexpr const char* kStatusOfMuster = "muster";
inline constexpr const char* kLostFiles = "lostFiles";
// The pods that share this share /dev/shm.
inline constexpr const char* kJobUidLabel = "muster.dev/job-uid";

}  // namespace muster::node
