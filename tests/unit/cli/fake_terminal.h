#pragma once

#include <algorithm>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "cli/terminal/output.h"

namespace muster::cli {

// A terminal that shows both streams, as far as a Screen makes use of one. It keeps everything that
// ever was on it, and wraps its lines anew when its width changes, as most terminals do (others cut
// them: resize_cutting). Every character takes one column.
class FakeTerminal final : public Output {
 public:
  explicit FakeTerminal(int width) : width_(width) {}

  void write(std::string_view text) override { held_ += text; }
  void write_error(std::string_view text) override {
    flush();
    if (before_) before_(Stream::Error);
    show(text);
  }
  void flush() override {
    if (held_.empty()) return;
    if (before_) before_(Stream::Out);
    ++writes;
    show(std::exchange(held_, {}));
  }
  void draw(std::string_view text) override {
    if (text.contains("\x1b[?7l")) ++redraws;
    show(text);
  }
  void before_text(std::function<void(Stream)> action) override { before_ = std::move(action); }
  void on_broken(std::function<void()> /*action*/) override {}

  void resize(int width) { width_ = width; }
  void resize_cutting(int width) {
    const int row = rows_above(line_) + row_of(column_);
    std::vector<std::u32string> rows;
    for (const auto& line : lines_) {
      for (int i = 0; i < rows_of(line); ++i)
        rows.push_back(line.substr(static_cast<std::size_t>(i * width_),
                                   static_cast<std::size_t>(std::min(width, width_))));
    }
    lines_ = std::move(rows);
    line_ = static_cast<std::size_t>(row);
    column_ = std::min(column_ % width_, width - 1);
    width_ = width;
  }

  // What is to be seen, row by row, without empty rows at the end.
  [[nodiscard]] std::vector<std::string> rows() const {
    std::vector<std::string> out;
    for (const auto& line : lines_) {
      for (int i = 0; i < rows_of(line); ++i)
        out.push_back(utf8(
            line.substr(static_cast<std::size_t>(i * width_), static_cast<std::size_t>(width_))));
    }
    while (!out.empty() && out.back().empty()) out.pop_back();
    return out;
  }

  [[nodiscard]] std::string last_line() const { return utf8(lines_.back()); }

  int redraws = 0;
  int writes = 0;
  std::string bytes;  // everything it was sent

 private:
  static std::u32string utf32(std::string_view text) {
    std::u32string out;
    for (const char c : text) {
      const auto byte = static_cast<unsigned char>(c);
      if ((byte & 0xC0U) == 0x80U) {
        out.back() = out.back() << 6U | (byte & 0x3FU);
      } else {
        out += byte < 0x80    ? byte
               : byte >= 0xF0 ? byte & 7U
               : byte >= 0xE0 ? byte & 15U
                              : byte & 31U;
      }
    }
    return out;
  }
  static std::string utf8(std::u32string_view text) {
    std::string out;
    for (const char32_t c : text) {
      if (c < 0x80) {
        out += static_cast<char>(c);
      } else if (c < 0x800) {
        out += {static_cast<char>(0xC0U | c >> 6U), static_cast<char>(0x80U | (c & 0x3FU))};
      } else {
        out += {static_cast<char>(0xE0U | c >> 12U), static_cast<char>(0x80U | (c >> 6U & 0x3FU)),
                static_cast<char>(0x80U | (c & 0x3FU))};
      }
    }
    return out;
  }

  [[nodiscard]] int rows_of(const std::u32string& line) const {
    return std::max(1, (static_cast<int>(line.size()) + width_ - 1) / width_);
  }
  [[nodiscard]] int row_of(int column) const { return column / width_; }
  [[nodiscard]] int rows_above(std::size_t line) const {
    int rows = 0;
    for (std::size_t i = 0; i < line; ++i) rows += rows_of(lines_[i]);
    return rows;
  }
  void go_to(int row, int column) {
    line_ = 0;
    while (row >= rows_of(lines_[line_])) {
      row -= rows_of(lines_[line_]);
      if (++line_ == lines_.size()) lines_.emplace_back();
    }
    column_ = row * width_ + column;
  }

  void show(std::string_view sent) {
    bytes += sent;
    const std::u32string text = utf32(sent);
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text[i] == U'\x1b') {
        i = obey(text, i);
      } else if (text[i] == U'\r') {
        column_ = row_of(column_) * width_;
      } else if (text[i] == U'\n') {  // a terminal's driver begins the line, too
        go_to(rows_above(line_) + row_of(column_) + 1, 0);
      } else {
        put(text[i]);
      }
    }
  }

  void put(char32_t c) {
    auto& line = lines_[line_];
    const auto at = static_cast<std::size_t>(column_);
    if (line.size() <= at) line.resize(at + 1, U' ');
    line[at] = c;
    const bool at_margin = (column_ + 1) % width_ == 0;
    if (wraps_ || !at_margin) ++column_;
  }

  std::size_t obey(const std::u32string& text, std::size_t at) {
    std::size_t end = at + 2;
    while (end < text.size() && (text[end] < U'@' || text[end] > U'~')) ++end;
    const std::string argument = utf8(text.substr(at + 2, end - at - 2));
    const char32_t what = text[end];
    if (what == U'J') {
      lines_.resize(line_ + 1);
      lines_[line_].resize(std::min(lines_[line_].size(), static_cast<std::size_t>(column_)));
    } else if (what == U'A') {
      go_to(rows_above(line_) + row_of(column_) - std::stoi(argument), column_ % width_);
    } else if (argument == "?7") {
      wraps_ = what == U'h';
    } else {
      EXPECT_EQ(what, U'm') << "steers the terminal: " << argument;
    }
    return end;
  }

  int width_;
  std::vector<std::u32string> lines_{1};  // as they were ended, however many rows they take
  std::size_t line_ = 0;                  // the cursor's
  int column_ = 0;                        // counted through the rows of its line
  bool wraps_ = true;
  std::string held_;
  std::function<void(Stream)> before_;
};

}  // namespace muster::cli
