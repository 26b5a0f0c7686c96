// A watch stream cut at arbitrary places gives the same events as the whole, within its limit.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "cluster/kube/answers.h"
#include "cluster/kube/watch_splitter.h"

namespace {

using muster::cluster::kube::WatchSplitter;

constexpr std::size_t kLimit = 4096;

bool split(std::string_view text, std::size_t piece, std::vector<std::string>& lines) {
  WatchSplitter splitter(kLimit);
  for (std::size_t at = 0; at < text.size(); at += piece) {
    if (!splitter.feed(text.substr(at, piece))) return false;
    while (const auto line = splitter.next()) lines.emplace_back(*line);
  }
  return true;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  std::vector<std::string> whole;
  std::vector<std::string> pieces;
  // Bytes one at a time see every limit that the larger pieces see.
  const bool fine = split(text, 1, whole);
  if (fine && (!split(text, 1 + data[0], pieces) || whole != pieces)) std::abort();
  for (const auto& line : whole) {
    if (line.size() > kLimit) std::abort();
    [[maybe_unused]] const auto event = muster::cluster::kube::read_event(line);
  }
  return 0;
}
