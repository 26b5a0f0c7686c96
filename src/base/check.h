#pragma once

namespace muster {

// Prints where and what, then aborts: only a bug of ours gets here. Stays on in release builds.
[[noreturn]] void check_failed(const char* file, int line, const char* condition);

}  // namespace muster

#define CHECK(condition)                                      \
  do {                                                        \
    if (!(condition)) [[unlikely]]                            \
      ::muster::check_failed(__FILE__, __LINE__, #condition); \
  } while (false)
