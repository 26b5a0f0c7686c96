#pragma once

#include <optional>
#include <string>

#include "base/error.h"
#include "rt/real_loop.h"
#include "rt/task.h"

namespace muster::cli {

// Our standard input on the loop, whatever it is. Whoever shares it with us (the shell that started
// us) finds it as it was.
class StandardInput {
 public:
  explicit StandardInput(rt::RealLoop& loop);
  StandardInput(const StandardInput&) = delete;
  StandardInput& operator=(const StandardInput&) = delete;
  ~StandardInput();

  // What has come; nothing at its end.
  Task<Result<std::optional<std::string>>> next();

 private:
  int flags_;  // of the descriptor that we were started with
  rt::Descriptor descriptor_;
};

}  // namespace muster::cli
