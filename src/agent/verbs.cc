#include "agent/verbs.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "agent/mpi/verbs.h"
#include "agent/output.h"
#include "agent/paddle_legacy/paddle_legacy.h"
#include "rt/scope.h"

namespace muster::agent {
namespace {

constexpr int kUsageError = 2;

constexpr std::array kVerbs{mpi::kInstall, mpi::kRun,  mpi::kRsh,  mpi::kLaunch,
                            mpi::kHosts,   mpi::kRank, mpi::kSshd, paddle_legacy::kVerb};

bool asks_for_help(std::string_view word) {
  return word == "--help" || word == "-h" || word == "help";
}

std::string help() {
  std::string text =
      "muster-agent: what runs inside the containers of training jobs\n\n"
      "usage: muster-agent VERB [OPTION…]; muster-agent VERB --help says more\n\n";
  for (const auto& verb : kVerbs) text += fmt::format("  {:16} {}\n", verb.name, verb.summary);
  return text;
}

std::string names() {
  std::string text;
  for (const auto& verb : kVerbs) text += fmt::format("{}{}", text.empty() ? "" : ", ", verb.name);
  return text;
}

Task<Result<int>> run_reaping(const Verb& verb, VerbContext& context) {
  rt::TaskScope scope(context.loop);
  scope.spawn(context.reaper.serve());
  auto code = co_await verb.run(context);
  co_await scope.close();
  co_return code;
}

int run(const Verb& verb, std::vector<std::string> arguments) {
  rt::RealLoop loop;
  rt::Pool pool(1);
  Reaper reaper(loop);
  VerbContext context{.loop = loop,
                      .pool = pool,
                      .reaper = reaper,
                      .environment = Environment::of_this_process(),
                      .arguments = std::move(arguments)};
  const auto code = loop.run(run_reaping(verb, context));
  if (code) return *code;
  say_error(fmt::format("{}: {}", verb.name, code.error().message));
  return code.error().code == ErrorCode::BadRequest ? kUsageError : verb.failure;
}

}  // namespace

std::span<const Verb> verbs() {
  return kVerbs;
}

int run_program(std::vector<std::string> words) {
  if (words.empty()) {
    say_error(fmt::format("which verb? One of: {}; muster-agent --help says more", names()));
    return kUsageError;
  }
  if (asks_for_help(words.front())) {
    print(help());
    return 0;
  }
  const auto verb = std::ranges::find(kVerbs, words.front(), &Verb::name);
  if (verb == kVerbs.end()) {
    say_error(fmt::format("no verb \"{}\"; there is: {}", words.front(), names()));
    return kUsageError;
  }
  words.erase(words.begin());
  if (!words.empty() && asks_for_help(words.front())) {
    print(std::string(verb->help));
    return 0;
  }
  return run(*verb, std::move(words));
}

}  // namespace muster::agent
