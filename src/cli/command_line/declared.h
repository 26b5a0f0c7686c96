#pragma once

#include <string>
#include <vector>

#include "cli/command_line/cli11.h"

// Reading the declarations of commands, for whoever tells people about them.
namespace muster::cli {

// Commands that help shows, in the order of their declaration.
std::vector<const CLI::App*> shown_commands(const CLI::App& app);
// Hidden ones too; null: there is none.
const CLI::App* command_named(const CLI::App& app, const std::string& name);
std::vector<const CLI::Option*> arguments_of(const CLI::App& app);
std::vector<const CLI::Option*> flags_of(const CLI::App& app);

// -o, --output
std::vector<std::string> spellings_of(const CLI::Option& flag);
bool takes_value(const CLI::Option& flag);
bool takes_many(const CLI::Option& option);
// What may be given where a list of words is checked: json, yaml; else nothing.
std::vector<std::string> choices_of(const CLI::Option& option);
// What the value is called: ROLE, N, FILE.
std::string value_name(const CLI::Option& flag);
// -o, --output json|yaml
std::string written(const CLI::Option& flag);
// NAME, [NAME], FILE…
std::string written_argument(const CLI::Option& argument);

// The flag that a word of the command line names, with or without =VALUE; null: none of this one.
const CLI::Option* flag_named(const CLI::App& app, const std::string& word);
// Whether the word after that one belongs to it.
bool takes_next_word(const CLI::App& app, const std::string& word);
// Where the command stands: the first word that is neither a flag nor a flag's value, or the end.
std::size_t find_command(const CLI::App& app, const std::vector<std::string>& words);

}  // namespace muster::cli
