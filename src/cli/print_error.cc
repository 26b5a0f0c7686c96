#include "cli/print_error.h"

#include <cstdio>

#include <fmt/format.h>

#include "base/strings.h"

namespace muster::cli {

void print_error(const Error& error) {
  if (error.causes.empty()) {
    fmt::print(stderr, "error: {}\n", printable(error.message));
    return;
  }
  // With causes the message is their summary; the causes say it better, one a line.
  const auto head = error.message.substr(0, error.message.find(": "));
  fmt::print(stderr, "error: {}\n",
             printable(error.causes.size() == 1
                           ? head
                           : fmt::format("{} ({} problems)", head, error.causes.size())));
  for (const FieldCause& cause : error.causes) {
    fmt::print(stderr, "  {}: {}\n", printable(cause.field), printable(cause.message));
  }
}

}  // namespace muster::cli
