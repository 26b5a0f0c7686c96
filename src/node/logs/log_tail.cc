#include "node/logs/log_tail.h"

#include <algorithm>
#include <fstream>
#include <iterator>

#include "node/logs/cri_log.h"

namespace muster::node {

std::string log_tail(const std::string& path) {
  constexpr std::size_t kBytes = 2048;
  constexpr std::size_t kLines = 80;
  std::ifstream in(path, std::ios::binary | std::ios::ate);
  if (!in) return {};
  // A line has about 40 bytes of head: 8 KiB of file hold 2 KiB of text in lines of 14 and more.
  constexpr std::streamoff kWindow = 8192;
  const std::streamoff size = in.tellg();
  in.seekg(std::max<std::streamoff>(0, size - kWindow));
  const std::string bytes((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  std::string text;
  CriLogDecoder decoder({});
  decoder.feed(std::string_view(bytes).substr(tail_offset(bytes, kLines)), text);
  decoder.finish(text);
  return text.size() > kBytes ? text.substr(text.size() - kBytes) : text;
}

}  // namespace muster::node
