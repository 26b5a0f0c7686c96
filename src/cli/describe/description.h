#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "json/value.h"

namespace muster::cli {

// Lines of "Label:   value" under each other, indented where they belong to one above.
class Description {
 public:
  explicit Description(std::size_t label_width) : label_width_(label_width) {}

  // An empty value is shown as <none>.
  void line(std::size_t indent, std::string_view label, std::string_view value);
  // Nothing for an empty value.
  void line_if(std::size_t indent, std::string_view label, std::string_view value);
  // One value a line, the label before the first.
  void lines(std::size_t indent, std::string_view label, const std::vector<std::string>& values);
  // A heading for what follows; with a word of its own when nothing does.
  void heading(std::size_t indent, std::string_view label, std::string_view word = "");
  // "  key:  value" for each member, or <none>.
  void table(std::string_view label, const std::vector<std::vector<std::string>>& rows);

  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::size_t label_width_;
  std::string text_;
};

// "key=value" of each member.
std::vector<std::string> pairs_of(const json::Value& members);

}  // namespace muster::cli
