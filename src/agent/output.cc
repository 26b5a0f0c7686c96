#include "agent/output.h"

#include <unistd.h>

#include <fmt/format.h>

#include "base/strings.h"

namespace muster::agent {
namespace {

// One write, so that lines of several processes do not mix. Nobody to read it is no reason to end.
void put(int fd, const std::string& text) {
  [[maybe_unused]] const auto written = ::write(fd, text.data(), text.size());
}

}  // namespace

void print(const std::string& text) {
  put(STDOUT_FILENO, text);
}

void say(std::string_view text) {
  put(STDERR_FILENO, fmt::format("muster-agent: {}\n", printable(text)));
}

void say_error(std::string_view text) {
  put(STDERR_FILENO, fmt::format("muster-agent: error: {}\n", printable(text)));
}

}  // namespace muster::agent
