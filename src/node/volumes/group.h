#pragma once

#include "base/error.h"
#include "json/value.h"
#include "node/volumes/atomic_directory.h"
#include "node/volumes/volumes.h"

// fsGroup: volumes that are made for a pod belong to its group.
namespace muster::node {

// The group may read the files.
void give_to_group(Payload& payload, const json::Value& pod);

// The group may write into the directory, and what is made in it is the group's. Volumes that are
// not made for the pod stay as they are.
Result<void> give_to_group(const VolumeSource& made, const json::Value& volume,
                           const json::Value& pod);

}  // namespace muster::node
