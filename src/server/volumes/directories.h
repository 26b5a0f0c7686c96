#pragma once

#include <memory>
#include <string>

#include "base/error.h"
#include "rt/loop.h"
#include "rt/pool.h"
#include "rt/task.h"

namespace muster::server {

// The directories of volumes that are made for claims. Never on the loop: a tree of a million files
// takes its time.
class VolumeDirectories {
 public:
  virtual ~VolumeDirectories() = default;
  // Below it, each claim gets a directory, unless its class says another place.
  [[nodiscard]] virtual const std::string& root() const = 0;
  // Open to every user, whose way to it its parents may bar. Fine when it is there already.
  virtual Task<Result<void>> make(std::string path) = 0;
  // With everything in it. Fine when it is gone already.
  virtual Task<Result<void>> remove(std::string path) = 0;
};

// On this machine; loop and pool outlive it.
std::unique_ptr<VolumeDirectories> make_volume_directories(rt::Loop& loop, rt::Pool& pool,
                                                           std::string root);

}  // namespace muster::server
