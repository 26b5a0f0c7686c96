#pragma once

#include <string>
#include <vector>

// What the help of a command says, taken from its declaration: one source for --help, man pages and
// completion.
namespace muster::cli {

// A flag, an argument or a command, as it is written and what it means.
struct HelpEntry {
  std::string written;  // -o, --output json|yaml
  std::string meaning;
};

struct HelpGroup {
  std::string title;
  std::vector<HelpEntry> entries;
};

struct HelpPage {
  std::string command;      // logs; empty: the program itself
  std::string description;  // whole sentences
  std::string usage;        // muster logs [FLAGS] NAME
  std::vector<std::string> examples;
  std::vector<HelpGroup> groups;  // commands, arguments, flags, flags that it shares with others
  std::string footer;
};

// What fits on one line of a description: its beginning up to the first full stop, colon or
// semicolon.
std::string summary_of(const std::string& description);

// For terminals, files and pipes: lines of at most 80 columns where the words allow it.
std::string help_text(const HelpPage& page);

// For man(1): the source of muster.1 or muster-logs.1.
std::string man_page(const HelpPage& page);

}  // namespace muster::cli
