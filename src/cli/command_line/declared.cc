#include "cli/command_line/declared.h"

#include <algorithm>

#include <CLI/CLI.hpp>

#include "base/strings.h"

namespace muster::cli {
namespace {

// CLI11's words for what a value is; where a flag says nothing better its own name does.
bool is_plain_type(const std::string& type) {
  return type.empty() || type == "TEXT" || type == "BOOLEAN" || type == "ENUM";
}

bool is_number(const std::string& type) {
  return type == "INT" || type == "UINT" || type == "FLOAT";
}

}  // namespace

std::vector<const CLI::App*> shown_commands(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App* command) { return !command->get_group().empty(); });
}

const CLI::App* command_named(const CLI::App& app, const std::string& name) {
  const auto found =
      app.get_subcommands([&](const CLI::App* command) { return command->get_name() == name; });
  return found.empty() ? nullptr : found.front();
}

std::vector<const CLI::Option*> arguments_of(const CLI::App& app) {
  return app.get_options([](const CLI::Option* option) { return option->get_positional(); });
}

std::vector<const CLI::Option*> flags_of(const CLI::App& app) {
  return app.get_options([](const CLI::Option* option) {
    return option->nonpositional() && !option->get_group().empty();
  });
}

std::vector<std::string> spellings_of(const CLI::Option& flag) {
  std::vector<std::string> names;
  for (const std::string& name : flag.get_snames()) names.push_back("-" + name);
  for (const std::string& name : flag.get_lnames()) names.push_back("--" + name);
  return names;
}

bool takes_value(const CLI::Option& flag) {
  return flag.get_items_expected_max() > 0;
}

bool takes_many(const CLI::Option& option) {
  return option.get_expected_max() > 1;
}

std::vector<std::string> choices_of(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const auto open = type.find(":{");
  const auto close = type.find('}', open);
  if (open == std::string::npos || close == std::string::npos) return {};
  std::vector<std::string> words;
  for (const auto word : split(std::string_view(type).substr(open + 2, close - open - 2), ','))
    words.emplace_back(word);
  return words;
}

std::string value_name(const CLI::Option& flag) {
  const std::string type = flag.get_type_name();
  const std::string base = type.substr(0, type.find(":{"));  // of DIR[:PATH]:{…} the first
  if (is_number(base)) return "N";
  if (!is_plain_type(base)) return base;
  std::string name = flag.get_lnames().empty() ? "value" : flag.get_lnames().front();
  name = name.substr(name.rfind('-') == std::string::npos ? 0 : name.rfind('-') + 1);
  std::ranges::transform(name, name.begin(), [](char c) {
    return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  });
  return name;
}

std::string written(const CLI::Option& flag) {
  std::string text = join(spellings_of(flag), ", ");
  if (!takes_value(flag)) return text;
  const auto choices = choices_of(flag);
  const std::string value = choices.empty() ? value_name(flag) : join(choices, "|");
  return text + (flag.get_items_expected_min() == 0 ? "[=" + value + "]" : " " + value);
}

std::string written_argument(const CLI::Option& argument) {
  const std::string name = argument.get_name(true) + (takes_many(argument) ? "…" : "");
  return argument.get_required() ? name : "[" + name + "]";
}

const CLI::Option* flag_named(const CLI::App& app, const std::string& word) {
  const std::string name = word.substr(0, word.find('='));
  for (const CLI::Option* flag : flags_of(app)) {
    const auto names = spellings_of(*flag);
    if (std::ranges::find(names, name) != names.end()) return flag;
  }
  return nullptr;
}

bool takes_next_word(const CLI::App& app, const std::string& word) {
  if (word.find('=') != std::string::npos) return false;
  const CLI::Option* flag = flag_named(app, word);
  return flag != nullptr && flag->get_items_expected_min() > 0;
}

std::size_t find_command(const CLI::App& app, const std::vector<std::string>& words) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (!words[i].starts_with('-')) return i;
    if (takes_next_word(app, words[i])) ++i;
  }
  return words.size();
}

}  // namespace muster::cli
