#include <fmt/format.h>

#include "base/version.h"
#include "cli/command_line/help_page.h"

namespace muster::cli {
namespace {

// As troff takes it. It makes typographer's characters of these, which no shell understands.
std::string_view escaped(char c) {
  switch (c) {
    case '\\':
      return "\\e";
    case '-':
      return "\\-";
    case '\'':
      return "\\(aq";
    case '`':
      return "\\(ga";
    case '"':
      return "\\(dq";
    case '^':
      return "\\(ha";
    case '~':
      return "\\(ti";
    default:
      return {};
  }
}

std::string escaped(std::string_view text) {
  std::string out;
  if (text.starts_with('.')) out += "\\&";  // else it would be a request
  for (const char c : text) {
    if (const auto special = escaped(c); !special.empty())
      out += special;
    else
      out += c;
  }
  return out;
}

std::string section(const HelpGroup& group) {
  std::string title;
  for (const char c : group.title)
    title += c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  std::string out = fmt::format(".SH {}\n", escaped(title));
  for (const HelpEntry& entry : group.entries)
    out += fmt::format(".TP\n.B {}\n{}\n", escaped(entry.written), escaped(entry.meaning));
  return out;
}

}  // namespace

std::string man_page(const HelpPage& page) {
  const std::string name = page.command.empty() ? "muster" : "muster-" + page.command;
  std::string out = fmt::format(".TH \"{}\" 1 \"\" \"muster {}\"\n", escaped(name), kVersion);
  out += fmt::format(".SH NAME\n{} \\- {}\n", escaped(name), escaped(summary_of(page.description)));
  out += fmt::format(".SH SYNOPSIS\n.B {}\n", escaped(page.usage));
  out += fmt::format(".SH DESCRIPTION\n{}\n", escaped(page.description));
  for (const HelpGroup& group : page.groups) out += section(group);
  if (!page.examples.empty()) {
    out += ".SH EXAMPLES\n.nf\n";
    for (const std::string& example : page.examples) out += escaped(example) + "\n";
    out += ".fi\n";
  }
  if (!page.footer.empty()) out += fmt::format(".SH SEE ALSO\n{}\n", escaped(page.footer));
  return out;
}

}  // namespace muster::cli
