#pragma once

#include <sys/types.h>

#include <string>

#include "base/error.h"
#include "json/value.h"
#include "node/volumes/volumes.h"

// Volumes that are paths of the machine itself.
namespace muster::node {

// With its parents; the mode is that of a new one.
Result<void> make_directory(const std::string& path, mode_t mode);

// Nobody's hostPath leads into the home.
Result<void> check_outside(const std::string& path, const std::string& home);

// A hostPath, checked and made as its type says.
Result<VolumeSource> host_path(const json::Value& source);

// The directory of the volume that a claim is bound to. NotFound: the claim is missing, or waits
// for its volume.
Result<VolumeSource> claimed_volume(const VolumeInput& input, const json::Value& source);

}  // namespace muster::node
