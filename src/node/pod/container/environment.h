#pragma once

#include <map>
#include <string>
#include <vector>

#include "api/resource.h"
#include "base/error.h"
#include "json/value.h"
#include "node/agent/options.h"
#include "node/pod/container/downward.h"
#include "node/pod/container/references.h"

// The environment and the command line of a container, as pure functions of what is known.
namespace muster::node {

struct EnvironmentInput {
  const json::Value& pod;
  const json::Value& container;
  const Place& place;
  const std::map<std::string, std::string>& services;  // service_environment()
  const Lookup& lookup;
};

// What the pod itself asks for: envFrom, env (last one wins, $(NAME) refers to what came before)
// and the service variables. NotFound names the ConfigMap, Secret or key that is missing.
Result<std::map<std::string, std::string>> pod_environment(const EnvironmentInput& input);

// The submitter's environment that the pod carries, else the node's own.
Result<std::map<std::string, std::string>> base_environment(const json::Value& pod,
                                                            const NodeOptions& options);

// Where the pod's job was submitted; empty: nobody knows.
std::string submitter_directory(const json::Value& pod);

struct CommandLine {
  std::vector<std::string> words;                  // expanded
  std::map<std::string, std::string> environment;  // base, then the image's, then the pod's
  std::string working_directory;
  std::string submitter_directory;
  const ImageRow* image = nullptr;
};

struct CommandLineInput {
  EnvironmentInput environment;
  const NodeOptions& options;
  std::string hostname;
};
Result<CommandLine> command_line(const CommandLineInput& input);

}  // namespace muster::node
