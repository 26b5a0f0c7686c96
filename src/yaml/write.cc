#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/strings.h"
#include "yaml/scalar.h"
#include "yaml/yaml.h"

namespace muster::yaml {
namespace {

constexpr std::size_t kStep = 2;
// A key that needs more looking ahead than the 1,024 characters that readers allow is written as "?
// key".
constexpr std::size_t kMostSimpleKey = 256;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// One character of well-formed UTF-8 taken off the front; U+FFFD for a byte that is none.
char32_t take_character(std::string_view& text) {
  const auto first = static_cast<unsigned char>(text.front());
  const std::size_t length = first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
  const auto sequence = text.substr(0, length);
  if (sequence.size() < length || !is_utf8(sequence)) {
    text.remove_prefix(1);
    return 0xFFFD;
  }
  text.remove_prefix(length);
  if (length == 1) return first;
  char32_t character = first & (0x7FU >> length);
  for (const char c : sequence.substr(1)) {
    character = character << 6U | (static_cast<unsigned char>(c) & 0x3FU);
  }
  return character;
}

// What may stand in the text as it is. Line breaks of Unicode and invisible marks may not.
bool is_printable(char32_t c) {
  if (c < 0x20 || (c >= 0x7F && c < 0xA0)) return false;
  return c != 0x2028 && c != 0x2029 && c != 0xFEFF && c != 0xFFFE && c != 0xFFFF;
}

bool is_printable(std::string_view text) {
  if (!is_utf8(text)) return false;
  while (!text.empty()) {
    if (!is_printable(take_character(text))) return false;
  }
  return true;
}

// 2006-01-02 and what follows it, and 12:30:45: other readers take them for more than strings.
bool looks_like_time(std::string_view text) {
  const auto dash = text.find('-');
  if (dash == 4 && std::ranges::all_of(text.substr(0, 4), is_digit)) {
    return text.size() > 5 && is_digit(text[5]);
  }
  return text.contains(':') && std::ranges::all_of(text, [](char c) {
           return is_digit(c) || c == ':' || c == '.' || c == '_' || c == '-' || c == '+';
         });
}

// Whether the text can stand without quotes, apart from what it would be taken for.
bool has_plain_form(std::string_view text) {
  if (text.front() == ' ' || text.back() == ' ' || text.back() == ':') return false;
  if (std::string_view(",[]{}#&*!|>'\"%@`").contains(text.front())) return false;
  const bool alone = text.size() == 1 || text[1] == ' ';
  if (std::string_view("-?:").contains(text.front()) && alone) return false;
  if (text.starts_with("---") || text.starts_with("...")) return false;
  return !text.contains(": ") && !text.contains(" #") && text != "<<";
}

void append_double_quoted(std::string& out, std::string_view text) {
  out += '"';
  while (!text.empty()) {
    const auto before = text;
    const char32_t c = take_character(text);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += static_cast<char>(c);
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (c == '\r') {
      out += "\\r";
    } else if (!is_printable(c) || c == 0xFFFD) {
      fmt::format_to(std::back_inserter(out), "\\u{:04X}", static_cast<unsigned>(c));
    } else {
      out += before.substr(0, before.size() - text.size());
    }
  }
  out += '"';
}

void append_single_quoted(std::string& out, std::string_view text) {
  out += '\'';
  for (const char c : text) {
    out += c;
    if (c == '\'') out += c;
  }
  out += '\'';
}

// A string on one line.
void append_flow_string(std::string& out, std::string_view text) {
  if (text.empty() || !is_printable(text) || resolve(text).type != ScalarType::String ||
      looks_like_time(text)) {
    append_double_quoted(out, text);
  } else if (has_plain_form(text)) {
    out += text;
  } else {
    append_single_quoted(out, text);
  }
}

// A literal block keeps lines as they are. One that would begin with white space needs an
// indentation mark, which few people can read: such text is quoted.
bool has_literal_form(std::string_view text) {
  if (!text.contains('\n') || std::string_view(" \t\n").contains(text.front())) return false;
  return std::ranges::all_of(split(text, '\n'), [](std::string_view line) {
    return std::ranges::all_of(split(line, '\t'), [](auto part) { return is_printable(part); });
  });
}

class Writer {
 public:
  std::string write(const json::Value& value) {
    if (is_block(value)) {
      value.is_array() ? write_items(value.as_array(), 0, false)
                       : write_members(value.as_object(), 0, false);
    } else {
      write_scalar(value, 0);
    }
    return std::move(out_);
  }

 private:
  static bool is_block(const json::Value& value) {
    return !value.as_array().empty() || !value.as_object().empty();
  }

  void indent(std::size_t columns) { out_.append(columns, ' '); }

  // `inline_first`: the first line is already indented, by the dash of the list that this is an
  // item of.
  void write_members(const json::Object& object, std::size_t column, bool inline_first) {
    for (const auto& [key, value] : object) {
      if (!inline_first) indent(column);
      inline_first = false;
      write_key(key, column);
      if (!is_block(value)) {
        out_ += ' ';
        write_scalar(value, column);
      } else if (value.is_array()) {
        out_ += '\n';
        write_items(value.as_array(), column, false);
      } else {
        out_ += '\n';
        write_members(value.as_object(), column + kStep, false);
      }
    }
  }

  void write_key(std::string_view key, std::size_t column) {
    std::string text;
    append_flow_string(text, key);
    if (text.size() > kMostSimpleKey) {
      out_ += "? ";
      out_ += text;
      out_ += '\n';
      indent(column);
    } else {
      out_ += text;
    }
    out_ += ':';
  }

  void write_items(const json::Array& array, std::size_t column, bool inline_first) {
    for (const json::Value& item : array) {
      if (!inline_first) indent(column);
      inline_first = false;
      out_ += "- ";
      if (!is_block(item)) {
        write_scalar(item, column);
      } else if (item.is_array()) {
        write_items(item.as_array(), column + kStep, true);
      } else {
        write_members(item.as_object(), column + kStep, true);
      }
    }
  }

  // What is not a block, and the end of its line. `column` is that of the key or dash before it.
  void write_scalar(const json::Value& value, std::size_t column) {
    if (value.is_string() && has_literal_form(value.as_string())) {
      write_literal(value.as_string(), column + kStep);
      return;
    }
    if (value.is_string()) {
      append_flow_string(out_, value.as_string());
    } else if (value.is_bool()) {
      out_ += value.as_bool() ? "true" : "false";
    } else if (value.is_int()) {
      fmt::format_to(std::back_inserter(out_), "{}", value.as_int());
    } else if (value.is_double() && std::isfinite(value.as_double())) {
      fmt::format_to(std::back_inserter(out_), "{}", value.as_double());
    } else if (value.is_array()) {
      out_ += "[]";
    } else if (value.is_object()) {
      out_ += "{}";
    } else {
      out_ += "null";
    }
    out_ += '\n';
  }

  void write_literal(std::string_view text, std::size_t column) {
    // The mark after | says what becomes of the line breaks at the end: none, one, or all as they
    // are.
    const bool ends_line = text.ends_with('\n');
    out_ += !ends_line ? "|-\n" : text.ends_with("\n\n") ? "|+\n" : "|\n";
    if (ends_line) text.remove_suffix(1);
    for (const auto line : split(text, '\n')) {
      if (!line.empty()) {
        indent(column);
        out_ += line;
      }
      out_ += '\n';
    }
  }

  std::string out_;
};

}  // namespace

std::string write(const json::Value& value) {
  return Writer().write(value);
}

}  // namespace muster::yaml
