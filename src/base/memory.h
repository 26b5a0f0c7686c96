#pragma once

namespace muster {

// Hands memory that the heap keeps but nobody uses back to the system. Worth it after a burst, not
// in a loop: it walks the whole heap.
void release_unused_memory();

}  // namespace muster
