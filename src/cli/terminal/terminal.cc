#include "cli/terminal/terminal.h"

#include <unistd.h>

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/strings.h"
#include "cli/terminal/raw_terminal.h"

namespace muster::cli {
namespace {

// Okabe and Ito's colours, as the nearest of 256, readable on black and on white.
constexpr std::array<int, 8> kPalette = {208, 39, 35, 178, 27, 166, 170, 244};

// Printable ASCII and tabs. Nearly every line is, and there are many: no branches.
bool is_plain(std::string_view line) {
  bool plain = true;
  for (const char c : line) plain &= (c >= 0x20 && c < 0x7F) || c == '\t';
  return plain;
}

// The length of what begins with an escape: a whole control sequence (ESC [ … letter) where it is
// one.
std::size_t escape_length(std::string_view text) {
  if (!text.starts_with("\x1b[")) return 1;
  for (std::size_t i = 2; i < text.size() && i < 32; ++i) {
    if (text[i] >= '@' && text[i] <= '~') return i + 1;
    if (text[i] < ' ' || text[i] > '?') return 1;
  }
  return 1;
}

}  // namespace

Terminal Terminal::detect(const Context& context) {
  Terminal terminal;
  terminal.out_is_terminal = ::isatty(STDOUT_FILENO) == 1 && context.env("TERM") != "dumb";
  terminal.err_is_terminal = ::isatty(STDERR_FILENO) == 1 && context.env("TERM") != "dumb";
  const bool forced = !context.env("FORCE_COLOR").empty() || !context.env("CLICOLOR_FORCE").empty();
  terminal.color = terminal.out_is_terminal || forced;
  if (!context.env("NO_COLOR").empty()) terminal.color = false;
  if (context.color == "always") terminal.color = true;
  if (context.color == "never") terminal.color = false;
  for (const auto* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const std::string locale = context.env(name);
    if (locale.empty()) continue;
    const std::string lower = to_lower(locale);
    terminal.utf8 =
        lower.find("utf-8") != std::string::npos || lower.find("utf8") != std::string::npos;
    break;
  }
  if (!terminal.err_is_terminal) return terminal;
  terminal.measure = [] { return window_size(STDERR_FILENO); };
  if (const auto size = terminal.measure()) {
    terminal.width = size->columns;
    terminal.height = size->rows;
  }
  return terminal;
}

std::size_t color_length(std::string_view text) {
  if (!text.starts_with("\x1b[")) return 0;
  for (std::size_t i = 2; i < text.size() && i < 32; ++i) {
    if (text[i] == 'm') return i + 1;
    if (text[i] != ';' && (text[i] < '0' || text[i] > '9')) return 0;
  }
  return 0;
}

void append_safe(std::string& out, std::string_view line, bool keep_color) {
  if (line.ends_with('\r')) line.remove_suffix(1);  // sshd and terminals end their lines with both
  if (is_plain(line)) {
    out += line;
    return;
  }
  while (!line.empty()) {
    const auto escape = line.find('\x1b');
    out += printable(line.substr(0, escape));
    if (escape == std::string_view::npos) break;
    line.remove_prefix(escape);
    const std::size_t color = color_length(line);
    if (keep_color) out += line.substr(0, color);
    line.remove_prefix(color > 0 ? color : escape_length(line));
  }
}

std::string safe_line(std::string_view line, bool keep_color) {
  std::string out;
  append_safe(out, line, keep_color);
  return out;
}

std::string rank_name(std::string_view role, int index) {
  if (role.empty()) return "";
  return fmt::format("{}{}", to_lower(role.size() <= 2 ? role : role.substr(0, 1)), index);
}

std::string line_prefix(const Terminal& terminal, std::string_view role, int index, bool bold) {
  const std::string_view bar = terminal.utf8 ? "│" : "|";
  const std::string text = fmt::format("{} {} ", rank_name(role, index), bar);
  if (!terminal.color) return text;
  const int color = kPalette[stable_hash(fmt::format("{}/{}", role, index)) % kPalette.size()];
  return fmt::format("\x1b[{}38;5;{}m{}\x1b[0m", bold ? "1;" : "", color, text);
}

std::string clock_time(Duration duration) {
  const auto total = std::chrono::duration_cast<std::chrono::seconds>(duration).count();
  return fmt::format("{}:{:02}:{:02}", total / 3600, total / 60 % 60, total % 60);
}

}  // namespace muster::cli
