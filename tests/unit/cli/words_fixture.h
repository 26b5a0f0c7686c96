#pragma once

#include <string>
#include <vector>

#include "cli/command_line/command_line.h"
#include "verb_fixture.h"

namespace muster::cli {

// Whole command lines, from their words to what they print.
class WordsTest : public VerbTest {
 protected:
  Outcome run(std::vector<std::string> words) {
    words.insert(words.begin(), "muster");
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    output().out.clear();
    output().err.clear();
    Flags flags;
    Verb verb;
    const auto code = parse(static_cast<int>(argv.size()), argv.data(), output(), flags, verb);
    if (code) return {.code = *code, .out = output().out, .err = output().err};
    return outcome([&](Context& context) {
      context.ns = flags.ns;
      context.all_namespaces = flags.all_namespaces;
      if (!flags.kubeconfig.empty()) context.kubeconfig = flags.kubeconfig;
      return verb(context);
    });
  }
};

}  // namespace muster::cli
