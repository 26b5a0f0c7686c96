#include "cli/completion/completing.h"

#include <algorithm>

#include <CLI/CLI.hpp>

#include "cli/command_line/declared.h"

namespace muster::cli {
namespace {

// The words before the cursor, sorted by what they are.
struct Before {
  const CLI::App* command = nullptr;
  std::vector<std::string> arguments;
  const CLI::Option* value_of = nullptr;  // the cursor is at this flag's value
  std::string role;
  bool over = false;  // behind --: somebody else's command line
};

bool has_name(const CLI::Option& flag, std::string_view name) {
  const auto names = spellings_of(flag);
  return std::ranges::find(names, name) != names.end();
}

const CLI::Option* find_flag(const CLI::App& app, const CLI::App* command,
                             const std::string& word) {
  const CLI::Option* flag = command == nullptr ? nullptr : flag_named(*command, word);
  return flag != nullptr ? flag : flag_named(app, word);
}

void note_value(const CLI::Option& flag, const std::string& value, Before& before, Flags& flags) {
  if (has_name(flag, "--role")) before.role = value;
  if (has_name(flag, "--home")) flags.home = value;
  if (has_name(flag, "--kubeconfig")) flags.kubeconfig = value;
  if (has_name(flag, "--context")) flags.kube_context = value;
  if (has_name(flag, "--namespace")) flags.ns = value;
}

Before read_before(const CLI::App& app, const std::vector<std::string>& words, Flags& flags) {
  Before before;
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    const std::string& word = words[i];
    if (word == "--") {
      before.over = true;
      return before;
    }
    if (!word.starts_with('-') || word == "-") {
      if (before.command == nullptr) {
        before.command = command_named(app, word);
        before.over = before.command == nullptr;
      } else {
        before.arguments.push_back(word);
      }
      continue;
    }
    const CLI::Option* flag = find_flag(app, before.command, word);
    if (flag == nullptr || !takes_value(*flag)) continue;
    const auto equals = word.find('=');
    if (equals != std::string::npos) {
      note_value(*flag, word.substr(equals + 1), before, flags);
    } else if (flag->get_items_expected_min() > 0 && i + 2 == words.size()) {
      before.value_of = flag;
    } else if (flag->get_items_expected_min() > 0) {
      note_value(*flag, words[++i], before, flags);
    }
  }
  return before;
}

void offer_flags(const CLI::App& app, const CLI::App* command, Completing& wanted) {
  for (const CLI::App* from : {command, &app}) {
    if (from == nullptr) continue;
    for (const CLI::Option* flag : flags_of(*from)) {
      for (const std::string& spelling : spellings_of(*flag)) {
        if (spelling.starts_with("--"))
          wanted.words.push_back({.written = spelling, .meaning = flag->get_description()});
      }
    }
  }
}

void offer_commands(const CLI::App& app, Completing& wanted) {
  for (const CLI::App* command : shown_commands(app)) {
    wanted.words.push_back(
        {.written = command->get_name(), .meaning = summary_of(command->get_description())});
  }
}

// A list of ranks goes on behind its last comma: 0,4-
void keep_in_front(Completing& wanted, char separator) {
  const auto at = wanted.begun.rfind(separator);
  if (at == std::string::npos) return;
  wanted.before += wanted.begun.substr(0, at + 1);
  wanted.begun.erase(0, at + 1);
}

// Values that are no plain list of words and still have beginnings that people know.
std::vector<std::string> beginnings_of(const CLI::Option& flag) {
  if (has_name(flag, "--for")) return {"finished", "running", "delete", "condition="};
  if (has_name(flag, "--output"))
    return {"json", "yaml", "wide", "name", "jsonpath=", "custom-columns="};
  return {};
}

bool is_file(const CLI::Option& flag) {
  const std::string name = value_name(flag);
  return name == "FILE" || name == "FILENAME" || name == "DIR" || name == "MOUNT";
}

void offer_value(const CLI::Option& flag, Completing& wanted) {
  auto words = choices_of(flag);
  if (words.empty()) words = beginnings_of(flag);
  for (std::string& word : words)
    wanted.words.push_back({.written = std::move(word), .meaning = ""});
  if (has_name(flag, "--role")) {
    wanted.names = {Names::Roles};
  } else if (has_name(flag, "--rank")) {
    wanted.names = {Names::Ranks};
    keep_in_front(wanted, ',');
  } else if (has_name(flag, "--namespace")) {
    wanted.names = {Names::Namespaces};
  } else if (is_file(flag)) {
    wanted.names = {Names::Files};
  }
}

// NAME, or RESOURCE NAME…, or RESOURCE/NAME.
void offer_objects(const std::vector<std::string>& arguments, bool may_be_resource,
                   Completing& wanted) {
  if (wanted.begun.find('/') != std::string::npos) {
    wanted.resource = wanted.begun.substr(0, wanted.begun.find('/'));
    keep_in_front(wanted, '/');
    wanted.names = {Names::Objects};
  } else if (arguments.empty()) {
    wanted.names = {Names::Jobs};
    if (may_be_resource) wanted.names.push_back(Names::Resources);
  } else {
    wanted.resource = arguments.front();
    wanted.names = {Names::Objects};
  }
}

void offer_argument(const CLI::App& app, const Before& before, Completing& wanted) {
  const auto declared = arguments_of(*before.command);
  if (declared.empty()) return;
  const bool past = before.arguments.size() >= declared.size();
  if (past && !takes_many(*declared.back())) return;
  const CLI::Option& argument = past ? *declared.back() : *declared[before.arguments.size()];
  for (const std::string& choice : choices_of(argument))
    wanted.words.push_back({.written = choice, .meaning = ""});
  const std::string name = argument.get_name(true);
  if (name == "COMMAND") {
    offer_commands(app, wanted);
  } else if (name == "FILE") {
    wanted.names = {Names::Files};
  } else if (name == "NAME" && declared.size() == 1 && !takes_many(argument)) {
    offer_objects({}, false, wanted);
  } else if (name == "NAME" || name == "WHAT" || name == "RESOURCE") {
    offer_objects(before.arguments, true, wanted);
  }
}

// bash hands over --for=x as three words.
void join_split_value(std::vector<std::string>& words) {
  const std::size_t count = words.size();
  if (count >= 2 && words.back() == "=") {
    words.back() = "";
  } else if (count >= 3 && words[count - 2] == "=" && words[count - 3].starts_with("--")) {
    words.erase(words.end() - 2);
  }
}

}  // namespace

Completing completing_at(const CLI::App& app, std::vector<std::string> words, Flags& flags) {
  if (words.empty()) words.emplace_back();
  join_split_value(words);
  Completing wanted{.begun = words.back()};
  const Before before = read_before(app, words, flags);
  if (!before.arguments.empty()) wanted.job = before.arguments.back();
  wanted.role = before.role;
  const auto equals = wanted.begun.find('=');
  if (before.over) {
    wanted.names = {Names::Files};
  } else if (before.value_of != nullptr) {
    offer_value(*before.value_of, wanted);
  } else if (wanted.begun.starts_with("--") && equals != std::string::npos) {
    const CLI::Option* flag = find_flag(app, before.command, wanted.begun);
    wanted.before = wanted.begun.substr(0, equals + 1);
    wanted.begun.erase(0, equals + 1);
    if (flag != nullptr) offer_value(*flag, wanted);
  } else if (wanted.begun.starts_with('-')) {
    offer_flags(app, before.command, wanted);
  } else if (before.command == nullptr) {
    offer_commands(app, wanted);
  } else {
    offer_argument(app, before, wanted);
  }
  return wanted;
}

}  // namespace muster::cli
