#pragma once

#include <string>
#include <vector>

#include "cli/command_line/command_line.h"
#include "cli/command_line/declared.h"
#include "cli/command_line/help_page.h"

// What may stand where the cursor is: the part of completion that asks nobody.
namespace muster::cli {

// Names that only a cluster or the shell knows.
enum class Names { Jobs, Objects, Resources, Roles, Ranks, Namespaces, Files };

struct Completing {
  std::string begun;             // the word at the cursor, as far as it is there
  std::string before;            // what stands in front of it in the same word: "pods/", "0,"
  std::vector<HelpEntry> words;  // from the declarations
  std::vector<Names> names;      // to be asked for
  std::string job;               // that was named before the cursor: NAME or KIND/NAME
  std::string role;
  std::string resource;  // of Objects: pods
};

// `words` are those behind "muster" up to the cursor; the last one is being written. What flags
// before the cursor say of the place is put into `flags`.
Completing completing_at(const CLI::App& app, std::vector<std::string> words, Flags& flags);

}  // namespace muster::cli
