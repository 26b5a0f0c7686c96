#include "base/memory.h"

#include <malloc.h>

namespace muster {

void release_unused_memory() {
  static_cast<void>(::malloc_trim(0));
}

}  // namespace muster
