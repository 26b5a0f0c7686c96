#include "cli/command_line/values.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "api/names.h"
#include "api/selector.h"
#include "base/strings.h"
#include "cli/command_line/declared.h"

namespace muster::cli {
namespace {

constexpr std::int64_t kLeast = std::numeric_limits<std::int32_t>::min();
constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();

// "a number", "a number from 0 on", "a number from 1 to 65535".
std::string numbers(std::int64_t least, std::int64_t most) {
  if (least == kLeast && most == kMost) return "number";
  if (most == kMost) return fmt::format("number from {} on", least);
  return fmt::format("number from {} to {}", least, most);
}

}  // namespace

void refuse_value(const std::string& flag, const std::string& problem) {
  throw CLI::ValidationError(flag, problem);
}

CLI::Validator one_of(const std::vector<std::string>& words) {
  const auto check = [words](const std::string& text) {
    for (const std::string& word : words) {
      if (text == word) return std::string();
    }
    return fmt::format("\"{}\" is {} {}", printable(text), words.size() == 1 ? "not" : "none of",
                       join(words, ", "));
  };
  return {check, "{" + join(words, ",") + "}"};
}

CLI::Validator whole_number(std::int64_t least, std::int64_t most) {
  const auto check = [least, most](const std::string& text) {
    const auto number = parse_int(text);
    if (number && *number >= least && *number <= most) return std::string();
    return fmt::format("\"{}\" is no {}", printable(text), numbers(least, most));
  };
  return {check, ""};
}

CLI::Validator dns_label() {
  return {[](const std::string& text) {
            const auto wrong = api::check_dns_label(text);
            return wrong && !text.empty() ? fmt::format("\"{}\": {}", printable(text), *wrong)
                                          : std::string();
          },
          ""};
}

CLI::Validator dns_subdomain() {
  return {[](const std::string& text) {
            const auto wrong = api::check_dns_subdomain(text);
            return wrong ? fmt::format("\"{}\": {}", printable(text), *wrong) : std::string();
          },
          ""};
}

CLI::Validator label_selector() {
  return {[](const std::string& text) { return problem_of(api::LabelSelector::parse(text)); }, ""};
}

CLI::Validator field_selector() {
  return {[](const std::string& text) { return problem_of(api::FieldSelector::parse(text)); }, ""};
}

CLI::Validator with_name(const std::string& wanted, WithValue value) {
  const auto check = [wanted, value](const std::string& text) {
    const auto equals = text.find('=');
    const bool valued = equals != std::string::npos || value == WithValue::Maybe;
    if (!text.empty() && equals != 0 && valued) return std::string();
    return fmt::format("\"{}\" is not {}", printable(text), wanted);
  };
  return {check, ""};
}

std::string conversion_of(const CLI::ConversionError& error) {
  const std::string_view said = error.what();
  constexpr std::string_view kBefore = "Could not convert: ";
  const auto equals = said.find(" = ");
  if (!said.starts_with(kBefore) || equals == std::string_view::npos) return std::string(said);
  return fmt::format("{}: \"{}\" is neither true nor false",
                     said.substr(kBefore.size(), equals - kBefore.size()),
                     printable(said.substr(equals + 3)));
}

std::string mismatch_of(const CLI::App& app, const CLI::ArgumentMismatch& error) {
  const std::string said = error.what();
  const std::string name = said.substr(0, said.find(':'));
  const CLI::Option* flag = flag_named(app, name);
  if (flag == nullptr && app.get_parent() != nullptr) flag = flag_named(*app.get_parent(), name);
  return flag == nullptr ? said : fmt::format("{} needs a value", written(*flag));
}

}  // namespace muster::cli
