#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace muster {

void check_failed(const char* file, int line, const char* condition) {
  static_cast<void>(std::fprintf(stderr, "%s:%d: check failed: %s\n", file, line, condition));
  std::abort();
}

}  // namespace muster
