#include "cluster/kube/access/exec_runner.h"

#include <unistd.h>

#include <map>

#include <fmt/format.h>

#include "base/spawn.h"

namespace muster::cluster::kube {
namespace {

// A program answers a program at once; a person may have to find a second factor first.
constexpr Duration kForPrograms = std::chrono::minutes(1);
constexpr Duration kForPeople = std::chrono::minutes(5);

constexpr std::size_t kMostPrinted = std::size_t{1} << 20U;

// Ours, then the entry's own, then what we tell it: the last one counts.
std::vector<std::string> environment_of(const ExecPlugin& plugin, Terminal terminal) {
  std::map<std::string, std::string> variables;
  for (const std::string& variable : own_environment()) {
    const auto equals = variable.find('=');
    if (equals != std::string::npos)
      variables[variable.substr(0, equals)] = variable.substr(equals + 1);
  }
  for (const auto& [name, value] : plugin.environment) variables[name] = value;
  variables["KUBERNETES_EXEC_INFO"] = exec_info(plugin, terminal);
  std::vector<std::string> out;
  out.reserve(variables.size());
  for (const auto& [name, value] : variables) out.push_back(fmt::format("{}={}", name, value));
  return out;
}

std::string explain(const Error& error, Duration limit) {
  if (error.code == ErrorCode::Timeout) {
    return fmt::format("did not end within {} s",
                       std::chrono::duration_cast<std::chrono::seconds>(limit).count());
  }
  return fmt::format("gave no credential: {}", error.message);
}

}  // namespace

Terminal HostExecRunner::terminal() const {
  return ::isatty(STDIN_FILENO) == 1 ? Terminal::Present : Terminal::Absent;
}

Task<Result<ExecCredential>> ask_plugin(rt::Loop& loop, ExecRunner& runner,
                                        const ExecPlugin& plugin) {
  const Terminal terminal =
      plugin.input == PluginInput::Never ? Terminal::Absent : runner.terminal();
  if (plugin.input == PluginInput::Always && terminal == Terminal::Absent) {
    co_return fail(plugin_error(
        plugin, "wants to ask a person (interactiveMode Always), but our input is no terminal"));
  }
  const bool asks = terminal == Terminal::Present;
  rt::ChildProgram program{
      .program = plugin.command,
      .words = {plugin.command},
      .environment = environment_of(plugin, terminal),
      .input = asks ? rt::ChildProgram::Input::Ours : rt::ChildProgram::Input::None,
      .most_output = kMostPrinted};
  program.words.insert(program.words.end(), plugin.arguments.begin(), plugin.arguments.end());
  const Duration limit = asks ? kForPeople : kForPrograms;
  const auto answer = co_await rt::with_timeout(loop, limit, runner.run(std::move(program)));
  if (!answer && answer.error().code == ErrorCode::Cancelled) co_return fail(answer.error());
  if (!answer && answer.error().code == ErrorCode::NotFound)
    co_return fail(plugin_error(plugin, "is not there: no such program"));
  if (!answer) co_return fail(plugin_error(plugin, explain(answer.error(), limit)));
  if (answer->exit_code != 0) {
    co_return fail(plugin_error(plugin, fmt::format("ended with exit code {}", answer->exit_code)));
  }
  co_return read_exec_credential(plugin, answer->output);
}

}  // namespace muster::cluster::kube
