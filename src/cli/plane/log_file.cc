#include "cli/plane/log_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>

namespace muster::cli {
namespace {

class LogFile {
 public:
  LogFile(std::string path, Severity least, std::size_t most_bytes)
      : path_(std::move(path)),
        most_bytes_(most_bytes),
        lines_(Logger::to_descriptor(STDERR_FILENO, least)) {
    open();
  }

  void write(Severity severity, std::string_view component, std::string_view text) {
    struct stat now{};
    if (::fstat(STDERR_FILENO, &now) == 0 && S_ISREG(now.st_mode) &&
        static_cast<std::size_t>(now.st_size) > most_bytes_) {
      // Where that is refused the next line asks again; until then it goes on in this one.
      if (std::rename(path_.c_str(), (path_ + ".old").c_str()) == 0) open();
    }
    const Logger line = lines_.named(std::string(component));
    switch (severity) {
      case Severity::Debug:
        return line.debug("{}", text);
      case Severity::Info:
        return line.info("{}", text);
      case Severity::Warning:
        return line.warning("{}", text);
      case Severity::Error:
        return line.error("{}", text);
    }
  }

 private:
  void open() {
    const int file =
        ::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file < 0) return;
    ::dup2(file, STDERR_FILENO);
    ::close(file);
  }

  std::string path_;
  std::size_t most_bytes_;
  Logger lines_;
};

}  // namespace

Logger log_to_file(const std::string& path, Severity least, std::size_t most_bytes) {
  auto file = std::make_shared<LogFile>(path, least, most_bytes);
  return {[file](Severity severity, std::string_view component, std::string_view text) {
            file->write(severity, component, text);
          },
          least};
}

}  // namespace muster::cli
