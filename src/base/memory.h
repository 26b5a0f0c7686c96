#pragma once

namespace muster {

// Hands memory that the heap keeps but nobody uses back to the system. Costs about a millisecond
// for every 100 MB; for the end of a burst, not for every request.
void release_unused_memory();

}  // namespace muster
