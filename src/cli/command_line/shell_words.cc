#include "cli/command_line/shell_words.h"

#include <string_view>

namespace muster::cli {

std::string shell_word(const std::string& text) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=@,+~";
  if (!text.empty() && text.find_first_not_of(kPlain) == std::string::npos) return text;
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

std::string shell_words(int argc, char** argv) {
  std::string words = "muster";
  for (int i = 1; i < argc; ++i) words += " " + shell_word(argv[i]);
  return words;
}

}  // namespace muster::cli
