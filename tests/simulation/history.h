#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "rt/loop.h"

namespace muster::simulation {

// Everything that happened in a run, one line each with its virtual time. Two runs are the same
// when their hashes are.
class History {
 public:
  explicit History(const rt::Loop& loop) : loop_(loop) {}

  template <class... Args>
  void note(fmt::format_string<Args...> text, Args&&... args) {
    const double seconds = std::chrono::duration<double>(loop_.monotonic().since_start).count();
    std::string line =
        fmt::format("{:10.4f} ", seconds) + fmt::format(text, std::forward<Args>(args)...);
    for (const char byte : line) {
      hash_ = (hash_ ^ static_cast<unsigned char>(byte)) * 0x100000001b3U;  // FNV-1a
    }
    lines_.push_back(std::move(line));
  }

  [[nodiscard]] std::uint64_t hash() const { return hash_; }
  [[nodiscard]] const std::vector<std::string>& lines() const { return lines_; }

 private:
  const rt::Loop& loop_;
  std::uint64_t hash_ = 0xcbf29ce484222325U;
  std::vector<std::string> lines_;
};

}  // namespace muster::simulation
