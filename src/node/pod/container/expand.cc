#include "node/pod/container/expand.h"

namespace muster::node {

std::string expand(std::string_view text, const std::map<std::string, std::string>& variables) {
  std::string out;
  out.reserve(text.size());
  std::size_t at = 0;
  while (at < text.size()) {
    const bool dollar_with_more = text[at] == '$' && at + 1 < text.size();
    if (!dollar_with_more) {
      out += text[at++];
      continue;
    }
    if (text[at + 1] == '$') {
      out += '$';
      at += 2;
      continue;
    }
    const auto close = text[at + 1] == '(' ? text.find(')', at + 2) : std::string_view::npos;
    if (close == std::string_view::npos) {
      // Not a reference. Both characters are taken, so that "$(" keeps what follows literal.
      out += text.substr(at, 2);
      at += 2;
      continue;
    }
    const auto reference = text.substr(at, close - at + 1);
    const auto found = variables.find(std::string(reference.substr(2, reference.size() - 3)));
    out += found == variables.end() ? reference : std::string_view(found->second);
    at = close + 1;
  }
  return out;
}

std::vector<std::string> expand_all(const std::vector<std::string>& texts,
                                    const std::map<std::string, std::string>& variables) {
  std::vector<std::string> out;
  out.reserve(texts.size());
  for (const auto& text : texts) out.push_back(expand(text, variables));
  return out;
}

}  // namespace muster::node
