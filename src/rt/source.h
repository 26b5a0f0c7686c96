#pragma once

#include "base/error.h"
#include "rt/task.h"

namespace muster::rt {

// Values that come one after another, asked for by one task. Its alias says how it ends. Destroying
// it gives the rest up.
template <class T>
class Source {
 public:
  Source() = default;
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;
  virtual ~Source() = default;

  virtual Task<Result<T>> next() = 0;
};

}  // namespace muster::rt
