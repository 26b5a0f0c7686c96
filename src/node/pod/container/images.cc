#include "node/pod/container/images.h"

#include <fmt/format.h>

namespace muster::node {

namespace {

// '*' matches any run of characters. Greedy with one point to return to: linear in practice and
// never worse than pattern × text.
bool matches(std::string_view pattern, std::string_view text) {
  std::size_t p = 0;
  std::size_t t = 0;
  std::size_t star = std::string_view::npos;
  std::size_t resume = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = t;
    } else if (p < pattern.size() && pattern[p] == text[t]) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++resume;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

// "host:5000/team/name:tag@sha256:…" is called "name".
std::string_view short_name(std::string_view image) {
  image = image.substr(0, image.find('@'));
  if (const auto slash = image.rfind('/'); slash != std::string_view::npos)
    image.remove_prefix(slash + 1);
  return image.substr(0, image.find(':'));
}

const ImageRow& agent_image() {
  static const ImageRow row{.pattern = kAgentImageName, .entrypoint = {kAgentPath}};
  return row;
}

std::vector<std::string> strings_of(const json::Value& list) {
  std::vector<std::string> out;
  for (const auto& item : list.as_array()) out.push_back(item.as_string());
  return out;
}

}  // namespace

bool matches(const ImageRow& row, std::string_view image) {
  return matches(std::string_view(row.pattern), image);
}

const ImageRow* find_image(const std::vector<ImageRow>& rows, std::string_view image) {
  for (const auto& row : rows) {
    if (matches(row, image)) return &row;
  }
  return short_name(image) == kAgentImageName ? &agent_image() : nullptr;
}

Result<std::vector<std::string>> words_to_run(const json::Value& container, const ImageRow* row) {
  auto words = strings_of(container["command"]);
  auto arguments = strings_of(container["args"]);
  if (words.empty() && row != nullptr) {
    words = row->entrypoint;
    if (arguments.empty()) arguments = row->cmd;
  }
  words.insert(words.end(), arguments.begin(), arguments.end());
  const bool nothing_names_a_program =
      container["command"].as_array().empty() &&
      (row == nullptr || (row->entrypoint.empty() && row->cmd.empty()));
  if (nothing_names_a_program || words.empty()) {
    return fail(
        ErrorCode::Invalid,
        fmt::format("container {} has no command, and image \"{}\" {}: give the container a "
                    "command, or {} in images.yaml",
                    container["name"].as_string(), container["image"].as_string(),
                    row == nullptr ? "is not known here" : "has a row that names no program",
                    row == nullptr ? "map the image" : "give its row an entrypoint or a cmd"));
  }
  return words;
}

}  // namespace muster::node
