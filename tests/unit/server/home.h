#pragma once

#include <stdlib.h>

#include <filesystem>
#include <string>

namespace muster::server {

// A directory for a store, gone at the end of the test.
class Home {
 public:
  Home() {
    std::string pattern = std::filesystem::temp_directory_path() / "muster-store-XXXXXX";
    path_ = ::mkdtemp(pattern.data());
  }
  Home(const Home&) = delete;
  Home& operator=(const Home&) = delete;
  ~Home() { std::filesystem::remove_all(path_); }
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string file() const { return path_ + "/store.db"; }

 private:
  std::string path_;
};

}  // namespace muster::server
