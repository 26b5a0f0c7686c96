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
#include "node/runtime/runtime.h"
#include "node/volumes/volumes.h"

// From the pod's manifest to what the runtime is asked to do. Pure, but for the directories that
// subPath makes and a look at those that PATH names: for DiskWork.
namespace muster::node {

// By which others find it.
std::string hostname_of(const json::Value& pod);
// What it takes itself for: in the machine's network it has the machine's name.
std::string own_hostname(const json::Value& pod, const NodeOptions& options);

SandboxSpec sandbox_spec(const json::Value& pod, const NodeOptions& options,
                         std::string hosts_file);

struct ContainerInput {
  const json::Value& pod;
  const json::Value& container;
  int attempt = 0;
  const Place& place;
  const NodeOptions& options;
  const std::vector<api::ObjectPtr>& services;
  const Lookup& lookup;
  const VolumeSources& volumes;
  const std::vector<std::string>& gpus;  // UUIDs of this container
};

// The same as a value.
struct ContainerWork {
  api::ObjectPtr pod;
  std::string container;
  int attempt = 0;
  Place place;
  NodeOptions options;
  std::vector<api::ObjectPtr> services;
  ReferencedObjects objects;
  VolumeSources volumes;
  std::vector<std::string> gpus;
};

// NotFound: a ConfigMap, a Secret or a key is missing yet; other errors: it can never run like
// this.
Result<ContainerSpec> container_spec(const ContainerInput& input);
Result<ContainerSpec> container_spec(const ContainerWork& work);

}  // namespace muster::node
