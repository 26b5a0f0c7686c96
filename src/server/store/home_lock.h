#pragma once

#include <string>

#include "base/error.h"
#include "base/fd.h"

namespace muster::server {

// Makes this process the only owner of a home directory for as long as it lives: flock on
// $home/lock, which the kernel lets go when the process ends, however it ends. The file holds the
// owner's pid.
class HomeLock {
 public:
  static Result<HomeLock> take(const std::string& home);

 private:
  explicit HomeLock(Fd file) : file_(std::move(file)) {}
  Fd file_;
};

}  // namespace muster::server
