#pragma once

namespace muster {

// Hands memory that the heap keeps but nobody uses back to the system. Worth it after a burst, not
// in a loop: it walks the whole heap.
void release_unused_memory();

// From now on a block of 256 KiB or more goes back to the system when it is freed. Left alone, the
// heap would raise that bound with every large block that is freed, and keep them.
void give_back_large_blocks();

}  // namespace muster
