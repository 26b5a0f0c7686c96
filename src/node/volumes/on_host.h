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

// Where a path leads, without links; from there on nobody can lead it elsewhere.
Result<std::string> real_path(const std::string& path);

// A directory that exists, as real_path() says, unless it lies in the home.
Result<std::string> directory_outside(const std::string& path, const std::string& home);

// What of the home no hostPath leads into: all of it but `shown`, which may be empty.
struct ClosedHome {
  std::string home;
  std::string shown;
};
// A hostPath, checked and then made as its type says.
Result<VolumeSource> host_path(const json::Value& source, const ClosedHome& closed);

// The directory of the volume that a claim is bound to. NotFound: the claim is missing, or waits
// for its volume.
Result<VolumeSource> claimed_volume(const VolumeInput& input, const json::Value& source);

}  // namespace muster::node
