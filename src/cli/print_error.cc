#include "cli/print_error.h"

#include <fmt/format.h>

#include "base/strings.h"

namespace muster::cli {

void print_error(Output& output, const Error& error) {
  if (error.causes.empty()) {
    output.note("error: {}\n", printable(error.message));
    return;
  }
  // With causes the message is their summary; the causes say it better, one a line.
  const auto head = error.message.substr(0, error.message.find(": "));
  output.note("error: {}\n",
              printable(error.causes.size() == 1
                            ? head
                            : fmt::format("{} ({} problems)", head, error.causes.size())));
  for (const FieldCause& cause : error.causes) {
    output.note("  {}: {}\n", printable(cause.field), printable(cause.message));
  }
}

}  // namespace muster::cli
