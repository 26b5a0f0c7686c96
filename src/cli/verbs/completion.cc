#include <algorithm>
#include <set>

#include "base/strings.h"
#include "cli/completion/known_names.h"
#include "cli/completion/scripts.h"
#include "cli/verbs/verbs.h"

namespace muster::cli {

int completion(Output& output, const std::string& shell) {
  output.write(completion_script(shell));
  return exit_code::kOk;
}

Task<int> complete(Context& context, Completing wanted) {
  context.log = Logger();  // whatever goes wrong, a person is typing
  std::set<std::string> said;
  const auto offer = [&](const std::string& word, const std::string& meaning) {
    if (word.starts_with(wanted.begun) && said.insert(word).second)
      context.output.print("{}{}{}{}\n", wanted.before, printable(word),
                           meaning.empty() ? "" : "\t", meaning);
  };
  for (const HelpEntry& entry : wanted.words) offer(entry.written, summary_of(entry.meaning));
  for (const std::string& name : co_await known_names(context, wanted)) offer(name, "");
  if (std::ranges::find(wanted.names, Names::Files) != wanted.names.end())
    context.output.write(":files\n");
  co_return exit_code::kOk;
}

}  // namespace muster::cli
