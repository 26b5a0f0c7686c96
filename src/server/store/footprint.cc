#include "server/store/footprint.h"

namespace muster::server {
namespace {

// A text up to this length is inside its string.
constexpr std::size_t kInside = 15;

std::size_t of_text(const std::string& text) {
  return text.size() > kInside ? text.size() + 1 : 0;
}

// An array's or an object's: how many have it, where its parts are, and what the allocator adds.
// Parts that several values share count in each of them.
constexpr std::size_t kBlock = 48;

std::size_t outside(const json::Value& value) {
  if (value.is_string()) return of_text(value.as_string());
  std::size_t bytes = value.as_array().empty() && value.as_object().empty() ? 0 : kBlock;
  for (const json::Value& element : value.as_array()) {
    bytes += sizeof(element) + outside(element);
  }
  for (const auto& member : value.as_object()) {
    bytes += sizeof(member) + of_text(member.first) + outside(member.second);
  }
  return bytes;
}

}  // namespace

std::size_t footprint(const json::Value& value) {
  return sizeof(value) + outside(value);
}

}  // namespace muster::server
