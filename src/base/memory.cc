#include "base/memory.h"

#include <malloc.h>

namespace muster {

void release_unused_memory() {
  static_cast<void>(::malloc_trim(0));
}

void give_back_large_blocks() {
  static constexpr int kLarge = 256 << 10;
  static constexpr int kKept = 4 << 20;  // at the end of the heap, or it would grow and shrink
  static_cast<void>(::mallopt(M_MMAP_THRESHOLD, kLarge));
  static_cast<void>(::mallopt(M_TRIM_THRESHOLD, kKept));
}

}  // namespace muster
