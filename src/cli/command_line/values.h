#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "base/error.h"
#include "cli/command_line/cli11.h"

// What the value of a flag may be, for CLI11, and what is said of one that it may not: the value
// and what would be right.
namespace muster::cli {

// As CLI11 wants to be told: nothing is wrong with an empty text.
template <class T>
std::string problem_of(const Result<T>& parsed) {
  return parsed ? "" : parsed.error().message;
}

[[noreturn]] void refuse_value(const std::string& flag, const std::string& problem);

// What a text means, or that it is no value for this flag.
template <class T>
T valid(const std::string& flag, const Result<T>& parsed) {
  if (!parsed) refuse_value(flag, parsed.error().message);
  return *parsed;
}

// Help and completion know the words from the declaration.
CLI::Validator one_of(const std::vector<std::string>& words);
CLI::Validator whole_number(std::int64_t least = std::numeric_limits<std::int32_t>::min(),
                            std::int64_t most = std::numeric_limits<std::int32_t>::max());
CLI::Validator dns_label();      // of a namespace, or nothing
CLI::Validator dns_subdomain();  // of a node
CLI::Validator label_selector();
// NAME=VALUE: the name must be there; `wanted` says what it should look like.
enum class WithValue { Always, Maybe };
CLI::Validator with_name(const std::string& wanted, WithValue value);
CLI::Validator field_selector();

// A flag without its value.
std::string mismatch_of(const CLI::App& app, const CLI::ArgumentMismatch& error);
// A value where a flag is yes or no: --all=maybe.
std::string conversion_of(const CLI::ConversionError& error);

}  // namespace muster::cli
