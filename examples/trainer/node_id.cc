#include "trainer/node_id.h"

#include <algorithm>
#include <cstddef>
#include <tuple>

namespace muster::trainer {
namespace {

constexpr std::size_t kMaxNodeId = 253;  // the longest Kubernetes object name

constexpr bool is_digit(char character) {
  return character >= '0' && character <= '9';
}

constexpr bool is_allowed(char character) {
  return is_digit(character) || (character >= 'a' && character <= 'z') ||
         (character >= 'A' && character <= 'Z') || character == '-' || character == '_' ||
         character == '.';
}

struct Parts {
  std::string_view stem;
  std::string_view number;  // digits without leading zeros; may be too long for any integer type
};

Parts split(std::string_view node_id) {
  std::size_t stem_size = node_id.size();
  while (stem_size > 0 && is_digit(node_id[stem_size - 1])) {
    --stem_size;
  }
  std::string_view number = node_id.substr(stem_size);
  while (number.size() > 1 && number.front() == '0') {
    number.remove_prefix(1);
  }
  return {node_id.substr(0, stem_size), number};
}

}  // namespace

bool is_node_id(std::string_view text) {
  return !text.empty() && text.size() <= kMaxNodeId && text.front() != '.' &&
         std::ranges::all_of(text, is_allowed);
}

bool comes_before(std::string_view left, std::string_view right) {
  const Parts a = split(left);
  const Parts b = split(right);
  // Of two numbers without leading zeros the longer is the larger. The whole ids come last, to keep
  // "w-1" and "w-01" apart.
  return std::tuple(a.stem, a.number.size(), a.number, left) <
         std::tuple(b.stem, b.number.size(), b.number, right);
}

}  // namespace muster::trainer
