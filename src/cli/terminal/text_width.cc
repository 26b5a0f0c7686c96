#include "cli/terminal/text_width.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "cli/terminal/terminal.h"
#include "cli/terminal/unicode_ranges.h"

namespace muster::cli {
namespace {

constexpr std::string_view kReset = "\x1b[0m";

template <std::size_t N>
bool within(const CodeRange (&ranges)[N], char32_t code) {
  const auto* const after = std::ranges::upper_bound(ranges, code, {}, &CodeRange::first);
  return after != std::begin(ranges) && code <= std::prev(after)->last;
}

// One character or one colour at the front of a text.
struct Glyph {
  std::size_t bytes = 1;
  std::size_t columns = 0;
  char32_t code = 0;
};

Glyph next_glyph(std::string_view text) {
  if (const std::size_t color = color_length(text); color > 0) return {.bytes = color};
  const auto first = static_cast<unsigned char>(text[0]);
  if (first < 0x80) return {.columns = 1, .code = first};
  const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  char32_t code = first & (0xFFU >> (length + 1));
  std::size_t bytes = 1;
  while (bytes < std::min(length, text.size()) &&
         (static_cast<unsigned char>(text[bytes]) & 0xC0U) == 0x80U) {
    code = code << 6U | (static_cast<unsigned char>(text[bytes]) & 0x3FU);
    ++bytes;
  }
  const std::size_t columns = within(kNoColumn, code) ? 0 : within(kTwoColumns, code) ? 2 : 1;
  return {.bytes = bytes, .columns = columns, .code = code};
}

// The longest front that fits, with what is drawn on its last character.
std::string_view front(std::string_view text, std::size_t columns) {
  std::size_t size = 0;
  while (size < text.size()) {
    const Glyph glyph = next_glyph(text.substr(size));
    if (glyph.columns > columns) break;
    columns -= glyph.columns;
    size += glyph.bytes;
  }
  return text.substr(0, size);
}

// The longest end that fits.
std::string_view back(std::string_view text, std::size_t columns) {
  std::size_t width = text_width(text);
  while (width > columns) {
    const Glyph glyph = next_glyph(text);
    width -= glyph.columns;
    text.remove_prefix(glyph.bytes);
  }
  // A mark whose character is gone would sit on the ellipsis.
  while (!text.empty() && next_glyph(text).columns == 0 && color_length(text) == 0)
    text.remove_prefix(next_glyph(text).bytes);
  return text;
}

std::string_view dots(std::size_t columns, Ellipsis ellipsis) {
  if (ellipsis == Ellipsis::Unicode) return columns > 0 ? "…" : "";
  return std::string_view("...").substr(0, columns);
}

std::string_view color_end(std::string_view text) {
  return text.contains('\x1b') ? kReset : "";
}

// What our own lines and most progress bars are made of.
constexpr std::pair<char32_t, std::string_view> kInAscii[] = {
    {U'│', "|"}, {U'·', "-"}, {U'—', "-"}, {U'–', "-"}, {U'…', "..."}, {U'█', "#"},
    {U'▉', "#"}, {U'▊', "#"}, {U'▋', "#"}, {U'▌', "#"}, {U'▍', "-"},   {U'▎', "-"},
    {U'▏', "-"}, {U'━', "="}, {U'╸', "="}, {U'╺', "-"}, {U'─', "-"},   {U'°', " "},
};

}  // namespace

std::size_t text_width(std::string_view text) {
  std::size_t width = 0;
  while (!text.empty()) {
    const Glyph glyph = next_glyph(text);
    width += glyph.columns;
    text.remove_prefix(glyph.bytes);
  }
  return width;
}

std::string elide_end(std::string_view text, std::size_t columns, Ellipsis ellipsis) {
  if (text_width(text) <= columns) return std::string(text);
  const std::string_view cut = dots(columns, ellipsis);
  std::string out(front(text, columns - text_width(cut)));
  out += cut;
  return out.append(color_end(text));
}

std::string elide_middle(std::string_view text, std::size_t columns, Ellipsis ellipsis) {
  if (text_width(text) <= columns) return std::string(text);
  const std::string_view cut = dots(columns, ellipsis);
  const std::size_t kept = columns - text_width(cut);
  const std::string_view begin = front(text, (kept + 1) / 2);
  std::string out(begin);
  out += cut;
  out += back(text.substr(begin.size()), kept - text_width(begin));
  return out.append(color_end(text));
}

std::string ascii_only(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const Glyph glyph = next_glyph(text);
    const auto* const known =
        std::ranges::find(kInAscii, glyph.code, &std::pair<char32_t, std::string_view>::first);
    if (glyph.code < 0x80) {
      out += text.substr(0, glyph.bytes);
    } else if (known != std::end(kInAscii)) {
      out += known->second;
    } else {
      out.append(glyph.columns, '?');
    }
    text.remove_prefix(glyph.bytes);
  }
  return out;
}

}  // namespace muster::cli
