#include "json/write.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace muster::json {
namespace {

class Writer {
 public:
  struct Style {
    bool indent = false;
    bool sorted = false;
  };

  Writer(std::string& out, Style style) : out_(out), style_(style) {}

  void write(const Value& value) {
    if (value.is_null()) {
      out_ += "null";
    } else if (value.is_bool()) {
      out_ += value.as_bool() ? "true" : "false";
    } else if (value.is_int()) {
      fmt::format_to(std::back_inserter(out_), "{}", value.as_int());
    } else if (value.is_double()) {
      write_double(value.as_double());
    } else if (value.is_string()) {
      write_string(out_, value.as_string());
    } else if (value.is_array()) {
      write_array(value.as_array());
    } else {
      write_object(value.as_object());
    }
  }

 private:
  void write_double(double number) {
    // JSON has no infinities; null is what every other writer puts there.
    if (!std::isfinite(number)) {
      out_ += "null";
    } else if (number == 0) {
      out_ += '0';  // -0 is equal to 0, and equal values give equal bytes
    } else {
      fmt::format_to(std::back_inserter(out_), "{}", number);
    }
  }

  void write_array(const Array& array) {
    if (array.empty()) {
      out_ += "[]";
      return;
    }
    out_ += '[';
    ++depth_;
    bool first = true;
    for (const Value& item : array) {
      if (!first) out_ += ',';
      first = false;
      new_line();
      write(item);
    }
    --depth_;
    new_line();
    out_ += ']';
  }

  void write_object(const Object& object) {
    if (object.empty()) {
      out_ += "{}";
      return;
    }
    out_ += '{';
    ++depth_;
    bool first = true;
    const auto member = [&](const Object::Member& entry) {
      if (!first) out_ += ',';
      first = false;
      new_line();
      write_string(out_, entry.first);
      out_ += style_.indent ? ": " : ":";
      write(entry.second);
    };
    if (style_.sorted) {
      std::vector<const Object::Member*> members;
      for (const auto& entry : object) members.push_back(&entry);
      std::ranges::sort(members, {},
                        [](const auto* entry) { return std::string_view(entry->first); });
      for (const auto* entry : members) member(*entry);
    } else {
      for (const auto& entry : object) member(entry);
    }
    --depth_;
    new_line();
    out_ += '}';
  }

  void new_line() {
    if (!style_.indent) return;
    out_ += '\n';
    out_.append(2 * depth_, ' ');
  }

  std::string& out_;
  Style style_;
  std::size_t depth_ = 0;
};

}  // namespace

void write_string(std::string& out, std::string_view text) {
  out += '"';
  for (const char c : text) {
    switch (c) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\t':
        out += "\\t";
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20) {
          fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<unsigned>(c));
        } else {
          out += c;
        }
    }
  }
  out += '"';
}

void write_to(std::string& out, const Value& value) {
  Writer(out, {}).write(value);
}

std::string write(const Value& value) {
  std::string out;
  write_to(out, value);
  return out;
}

std::string write_pretty(const Value& value) {
  std::string out;
  Writer(out, {.indent = true}).write(value);
  return out;
}

std::string write_canonical(const Value& value) {
  std::string out;
  Writer(out, {.sorted = true}).write(value);
  return out;
}

}  // namespace muster::json
