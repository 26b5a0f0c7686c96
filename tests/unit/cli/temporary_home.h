#pragma once

#include <unistd.h>

#include <filesystem>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::cli {

// A directory that goes with its owner.
struct TemporaryHome {
  TemporaryHome() {
    char made[] = "/tmp/muster-cli.XXXXXX";
    path = ::mkdtemp(made);
  }
  TemporaryHome(const TemporaryHome&) = delete;
  TemporaryHome& operator=(const TemporaryHome&) = delete;
  ~TemporaryHome() { std::filesystem::remove_all(path); }

  std::string path;
};

}  // namespace muster::cli
