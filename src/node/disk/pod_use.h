#pragma once

#include <map>
#include <string>

#include "api/resource.h"
#include "node/disk/verdict.h"

namespace muster::node {

// Where the emptyDirs of pods lie, by uid.
struct VolumePlaces {
  std::string disk;
  std::string memory;
};

// What its emptyDirs hold. Blocks: for DiskWork.
std::map<std::string, VolumeDiskUse> volume_use(const api::ObjectPtr& pod,
                                                const VolumePlaces& places);

}  // namespace muster::node
