#include <algorithm>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "base/strings.h"
#include "cli/command_line/declared.h"
#include "cli/command_line/parser.h"
#include "cli/command_line/suggest.h"
#include "cli/command_line/values.h"

// Verbs that tell about the program itself, and what is said of words that it does not know.
namespace muster::cli {
namespace {

// For what is done by the time it is said how it went.
Task<int> done(int code) {
  co_return code;
}

std::vector<HelpEntry> entries_of(const std::vector<const CLI::Option*>& flags) {
  std::vector<HelpEntry> entries;
  for (const CLI::Option* flag : flags)
    entries.push_back({.written = written(*flag), .meaning = flag->get_description()});
  return entries;
}

bool obeys(const Obeyed& obeyed, const CLI::Option& flag) {
  const auto names = spellings_of(flag);
  const auto is = [&](std::string_view name) {
    return std::ranges::find(names, name) != names.end();
  };
  if (is("--home")) return obeyed.home;
  if (is("--namespace")) return obeyed.ns;
  if (is("--color")) return obeyed.color;
  if (is("-v")) return obeyed.verbosity;
  if (is("--kubeconfig") || is("--context") || is("--insecure-skip-tls-verify"))
    return obeyed.cluster;
  return false;
}

// Of a program: its commands, by the groups in which they were declared.
std::vector<HelpGroup> command_groups(const CLI::App& app) {
  std::vector<HelpGroup> groups;
  for (const CLI::App* command : shown_commands(app)) {
    if (groups.empty() || groups.back().title != command->get_group())
      groups.push_back({.title = command->get_group(), .entries = {}});
    groups.back().entries.push_back(
        {.written = command->get_name(), .meaning = summary_of(command->get_description())});
  }
  return groups;
}

void add_group(HelpPage& page, std::string title, std::vector<HelpEntry> entries) {
  if (!entries.empty())
    page.groups.push_back({.title = std::move(title), .entries = std::move(entries)});
}

bool is_help(const CLI::App& command, const CLI::Option* flag) {
  return flag == command.get_help_ptr();
}

}  // namespace

HelpPage Parser::page(const CLI::App* command) const {
  if (command == nullptr) {
    HelpPage page{.command = "",
                  .description = app_->get_description(),
                  .usage = "muster [FLAGS] COMMAND",
                  .examples = {},
                  .groups = command_groups(*app_),
                  .footer = "Help and examples of a command: muster help COMMAND"};
    add_group(page, "Flags", entries_of(flags_of(*app_)));
    return page;
  }
  HelpPage page{.command = command->get_name(),
                .description = command->get_description(),
                .usage = fmt::format("muster {} [FLAGS]", command->get_name()),
                .examples = notes_of(command).examples,
                .groups = {},
                .footer = ""};
  std::vector<HelpEntry> arguments;
  for (const CLI::Option* argument : arguments_of(*command)) {
    page.usage += " " + written_argument(*argument);
    arguments.push_back(
        {.written = argument->get_name(true), .meaning = argument->get_description()});
  }
  page.usage += notes_of(command).behind;
  auto own = flags_of(*command);
  std::erase_if(own, [&](const CLI::Option* flag) { return is_help(*command, flag); });
  auto shared = flags_of(*app_);
  const Obeyed& obeyed = notes_of(command).obeyed;
  std::erase_if(shared, [&](const CLI::Option* flag) { return !obeys(obeyed, *flag); });
  add_group(page, "Arguments", std::move(arguments));
  add_group(page, "Flags", entries_of(own));
  add_group(page, "Flags of most commands", entries_of(shared));
  return page;
}

void Parser::add_help() {
  CLI::App* app = command("help", "Print help of a command, or the list of all.",
                          "  muster help\n  muster help run\n"
                          "  muster help --man run >muster-run.1",
                          {.home = false, .cluster = false, .ns = false, .verbosity = false});
  app->add_option("COMMAND", help_command_, "The command");
  app->add_flag("--man", help_as_man_page_, "As the source of a manual page");
  app->callback(
      [this] { verb_ = [this](Context& context) { return done(print_help(context.output)); }; });
}

int Parser::print_help(Output& output) const {
  const CLI::App* about = nullptr;
  if (!help_command_.empty()) {
    about = command_named(*app_, help_command_);
    if (about == nullptr) return refuse_verb(help_command_);
  }
  output.write(help_as_man_page_ ? man_page(page(about)) : help_text(page(about)));
  return exit_code::kOk;
}

void Parser::add_completion() {
  CLI::App* app = command("completion",
                          "Print what a shell reads to complete our commands: also the names of "
                          "jobs, roles and ranks.",
                          "  eval \"$(muster completion bash)\"\n"
                          "  muster completion zsh >~/.zfunc/_muster\n"
                          "  muster completion fish | source",
                          {.home = false, .cluster = false, .ns = false, .verbosity = false});
  app->add_option("SHELL", completion_shell_, "bash, zsh or fish")
      ->required()
      ->check(one_of({"bash", "zsh", "fish"}));
  app->callback([this] {
    verb_ = [this](Context& context) {
      return done(completion(context.output, completion_shell_));
    };
  });
}

void Parser::add_version() {
  CLI::App* app =
      command("version", "Print the version.", "  muster version\n  muster version -o json",
              {.home = false, .cluster = false, .ns = false, .verbosity = false});
  app->add_option("-o,--output", version_output_, "json")->check(one_of({"json"}));
  app->callback([this] {
    verb_ = [this](Context& context) { return done(version(context.output, version_output_)); };
  });
}

int Parser::refuse_verb(const std::string& word) const {
  output_.note("error: no command \"{}\"{}\n  see: muster help\n", printable(word),
               did_you_mean(word, verb_names()));
  return exit_code::kUsage;
}

// What is left over when a command line was read: a flag that nobody knows, or a word too many.
int Parser::refuse_extra(const CLI::App& app) const {
  const auto rest = app_->remaining(true);
  const auto found = std::ranges::find_if(
      rest, [](const std::string& word) { return word.size() > 1 && word.starts_with('-'); });
  const std::string command = &app == app_.get() ? "muster" : "muster " + app.get_name();
  if (found == rest.end()) {
    return refuse(fmt::format("{} takes no further argument: \"{}\"", command,
                              printable(rest.empty() ? "" : rest.front())));
  }
  const std::string flag = found->substr(0, found->find('='));
  std::vector<std::string> known;
  for (const CLI::App* from : {&app, static_cast<const CLI::App*>(app_.get())}) {
    for (const CLI::Option* one : flags_of(*from)) {
      for (std::string& spelling : spellings_of(*one))
        if (spelling.starts_with("--")) known.push_back(std::move(spelling));
    }
  }
  return refuse(fmt::format("{} has no flag {}{}", command, printable(flag),
                            flag.starts_with("--") ? did_you_mean(flag, known) : ""));
}

std::vector<std::string> Parser::verb_names() const {
  std::vector<std::string> names;
  for (const CLI::App* command : shown_commands(*app_)) names.push_back(command->get_name());
  return names;
}

}  // namespace muster::cli
