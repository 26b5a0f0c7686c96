#pragma once

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/time.h"

namespace muster::cli {

// A line of a container's log: in which second of a minute it was written, and its text.
inline std::string record(double second, const std::string& text, char tag = 'F',
                          const std::string& stream = "stdout") {
  char time[64];
  std::snprintf(time, sizeof time, "2026-11-15T03:04:%012.9fZ", second);
  return std::string(time) + " " + stream + " " + tag + " " + text + "\n";
}

// Adds to a log in a home; DIRECTORY is NAMESPACE_POD_UID, FILE is CONTAINER/0.log.
inline void append_log(const std::string& home, const std::string& directory,
                       const std::string& file, const std::string& bytes) {
  const auto path = std::filesystem::path(home) / "logs" / directory / file;
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path, std::ios::app | std::ios::binary) << bytes;
}

// A home in which pods left logs.
class LogFiles : public ::testing::Test {
 protected:
  LogFiles() {
    char path[] = "/tmp/muster-logs.XXXXXX";
    home_ = ::mkdtemp(path);
  }
  ~LogFiles() override { std::filesystem::remove_all(home_); }

  void append(const std::string& directory, const std::string& file, const std::string& bytes) {
    append_log(home_, directory, file, bytes);
  }
  [[nodiscard]] std::string pod_directory(const std::string& directory) const {
    return home_ + "/logs/" + directory;
  }

  std::string home_;
};

}  // namespace muster::cli
