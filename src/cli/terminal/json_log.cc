#include "cli/terminal/json_log.h"

#include <unistd.h>

#include "base/strings.h"
#include "json/write.h"

namespace muster::cli {
namespace {

std::string_view level_of(Severity severity) {
  switch (severity) {
    case Severity::Debug:
      return "debug";
    case Severity::Info:
      return "info";
    case Severity::Warning:
      return "warning";
    case Severity::Error:
      return "error";
  }
  return "info";
}

}  // namespace

std::string json_log_line(Time at, Severity severity, std::string_view component,
                          std::string_view text, int pid) {
  // What is not UTF-8 is no JSON either.
  return json::write(json::Object{{"time", format_micro_time(at)},
                                  {"level", level_of(severity)},
                                  {"component", component},
                                  {"message", is_utf8(text) ? std::string(text) : printable(text)},
                                  {"fields", json::Object{{"pid", pid}}}}) +
         "\n";
}

Logger json_log_to_descriptor(int fd, Severity least) {
  const auto sink = [fd](Severity severity, std::string_view component, std::string_view text) {
    const std::string line =
        json_log_line(SystemClock().now(), severity, component, text, ::getpid());
    // As in Logger::to_descriptor.
    [[maybe_unused]] const auto written = ::write(fd, line.data(), line.size());
  };
  return {sink, least};
}

void LoggedOutput::write_error(std::string_view text) {
  constexpr std::string_view kError = "error: ";
  constexpr std::string_view kWarning = "warning: ";
  inner_.flush();  // in the order in which it was said
  const std::string_view whole = trim(text);
  if (whole.empty()) return;
  if (whole.starts_with(kError))
    log_.error("{}", whole.substr(kError.size()));
  else if (whole.starts_with(kWarning))
    log_.warning("{}", whole.substr(kWarning.size()));
  else
    log_.info("{}", whole);
}

}  // namespace muster::cli
