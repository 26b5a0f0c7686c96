#include "base/log.h"

#include <unistd.h>

#include "base/time.h"

namespace muster {
namespace {

std::string_view name_of(Severity severity) {
  switch (severity) {
    case Severity::Debug:
      return "DEBUG";
    case Severity::Info:
      return "INFO";
    case Severity::Warning:
      return "WARN";
    case Severity::Error:
      return "ERROR";
  }
  return "?";
}

}  // namespace

Logger Logger::to_descriptor(int fd, Severity least) {
  const auto sink = [fd](Severity severity, std::string_view component, std::string_view text) {
    std::string line = fmt::format("{} {} {}: {}\n", format_micro_time(SystemClock().now()),
                                   name_of(severity), component, text);
    // One write a line, so that lines of several processes do not mix. A log that cannot be
    // written is not worth failing for.
    [[maybe_unused]] const auto written = ::write(fd, line.data(), line.size());
  };
  return {sink, least};
}

Logger Logger::named(std::string component) const {
  Logger copy = *this;
  copy.component_ = std::move(component);
  return copy;
}

}  // namespace muster
