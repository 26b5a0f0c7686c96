#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/logs/container_log.h"
#include "node/logs/log_file.h"

namespace muster::cli {

// The log of a container that runs or ran on this machine, read from its files: it needs nobody's
// help, so nothing that happens to a control plane loses or repeats a line.
class FileLog final : public ContainerLog {
 public:
  // Begins with that run of the container and goes on with those after it.
  FileLog(std::string pod_directory, std::string container, int attempt, LogWindow window);

  void see(const ContainerProgress& progress) override;
  Task<Result<std::vector<LogPiece>>> present() override;
  // The same without an await: files do not make one wait.
  Result<std::vector<LogPiece>> read();
  // Nothing comes any more once what is there was read.
  [[nodiscard]] bool over() const { return over_ && attempt_ >= last_attempt_; }
  void limit_window(std::size_t bytes) { chunk_ = bytes; }

 private:
  void begin_next_run(std::vector<LogPiece>& pieces);
  void take(std::string_view bytes, std::vector<LogPiece>& pieces);
  void take_line(std::string_view line, std::vector<LogPiece>& pieces);

  std::string directory_;
  std::string container_;
  int attempt_;
  int last_attempt_;
  bool over_ = false;
  LogWindow window_;
  bool sought_ = false;
  std::size_t chunk_ = std::size_t{64} << 10U;
  node::LogFile file_;
  std::string rest_;       // of a record that is not whole yet
  bool skipping_ = false;  // a record that is too long to be one
  std::string begun_[2];   // when the unfinished line of each stream began; empty: there is none
};

}  // namespace muster::cli
