#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace muster {

enum class Severity { Debug, Info, Warning, Error };

// Where diagnostic lines go. A sink is handed to whoever logs; there is no global logger.
class Logger {
 public:
  using Sink = std::function<void(Severity, std::string_view component, std::string_view text)>;

  // Drops everything.
  Logger() = default;
  Logger(Sink sink, Severity least) : sink_(std::move(sink)), least_(least) {}

  // Writes `2026-11-15T03:04:05.000006Z INFO controller: text` lines to a descriptor, whole lines
  // only.
  static Logger to_descriptor(int fd, Severity least);

  [[nodiscard]] Logger named(std::string component) const;

  template <class... Args>
  void debug(fmt::format_string<Args...> text, Args&&... args) const {
    write(Severity::Debug, text, std::forward<Args>(args)...);
  }
  template <class... Args>
  void info(fmt::format_string<Args...> text, Args&&... args) const {
    write(Severity::Info, text, std::forward<Args>(args)...);
  }
  template <class... Args>
  void warning(fmt::format_string<Args...> text, Args&&... args) const {
    write(Severity::Warning, text, std::forward<Args>(args)...);
  }
  template <class... Args>
  void error(fmt::format_string<Args...> text, Args&&... args) const {
    write(Severity::Error, text, std::forward<Args>(args)...);
  }

 private:
  template <class... Args>
  void write(Severity severity, fmt::format_string<Args...> text, Args&&... args) const {
    if (!sink_ || severity < least_) return;
    sink_(severity, component_, fmt::format(text, std::forward<Args>(args)...));
  }

  Sink sink_;
  Severity least_ = Severity::Info;
  std::string component_;
};

}  // namespace muster
