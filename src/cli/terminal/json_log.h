#pragma once

#include <string>
#include <string_view>

#include "base/log.h"
#include "base/time.h"
#include "cli/terminal/output.h"

// Diagnostics for programs that collect them: --log-format json.
namespace muster::cli {

// {"time":"…","level":"info","component":"controller","message":"…","fields":{"pid":7}}, in one
// line whatever the text holds.
std::string json_log_line(Time at, Severity severity, std::string_view component,
                          std::string_view text, int pid);

// Such lines, one write each.
Logger json_log_to_descriptor(int fd, Severity least);

// An output whose words for people are lines of a log, so that standard error holds nothing else:
// what begins with "error:" is an error there. Standard output stays as it is. Both outlive it.
class LoggedOutput final : public Output {
 public:
  LoggedOutput(Output& inner, Logger log) : inner_(inner), log_(log.named("muster")) {}

  void write(std::string_view text) override { inner_.write(text); }
  void write_error(std::string_view text) override;
  void flush() override { inner_.flush(); }
  void draw(std::string_view /*text*/) override {}
  void on_broken(std::function<void()> action) override { inner_.on_broken(std::move(action)); }

 private:
  Output& inner_;
  Logger log_;
};

}  // namespace muster::cli
