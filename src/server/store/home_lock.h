#pragma once

#include <string>

#include "base/error.h"
#include "base/fd.h"

namespace muster::server {

// Makes this process the only owner of a home directory for as long as it lives: flock on
// $home/lock, which the kernel lets go when the process ends, however it ends. The file holds the
// owner's pid. The lock belongs to the open file: whoever takes it can hand it to a process that it
// starts, and nobody else gets it in between.
class HomeLock {
 public:
  // AlreadyExists when another process has it.
  static Result<HomeLock> take(const std::string& home);
  // One that was taken by whoever handed us its descriptor; we are the owner from now on.
  // BadRequest when it is another file, which is left alone.
  static Result<HomeLock> adopt(const std::string& home, int descriptor);
  // The same lock once more: it is let go with the last of them.
  [[nodiscard]] Result<HomeLock> share() const;

  // To be handed on. Closed on exec.
  [[nodiscard]] int descriptor() const { return file_.get(); }

 private:
  explicit HomeLock(Fd file) : file_(std::move(file)) {}
  Fd file_;
};

}  // namespace muster::server
