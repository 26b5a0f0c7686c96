#include "node/pod/hooks.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "rt/wait.h"

namespace muster::node {

Task<Result<void>> run_hook(PodSubject& subject, std::string container, json::Value hook,
                            Duration limit) {
  const auto pause = std::as_const(hook)["sleep"]["seconds"].as_int();
  if (pause > 0) {
    co_return co_await rt::sleep_for(subject.node.loop, std::min(limit, seconds_saturating(pause)));
  }
  std::vector<std::string> command;
  for (const auto& word : std::as_const(hook)["exec"]["command"].as_array())
    command.push_back(word.as_string());
  if (command.empty()) co_return Result<void>{};
  const auto result =
      CO_TRY(co_await subject.node.runtime.exec(subject.uid, container, std::move(command), limit));
  if (result.timed_out) co_return fail(ErrorCode::Timeout, "it took too long");
  if (result.exit_code == 0) co_return Result<void>{};
  co_return fail(ErrorCode::Invalid,
                 fmt::format("it ended with exit {}: {}", result.exit_code, result.output));
}

}  // namespace muster::node
