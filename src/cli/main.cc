#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <thread>

#include <fmt/format.h>

#include "base/strings.h"
#include "cli/cluster/own_cluster.h"
#include "cli/cluster/unused_kubeconfig.h"
#include "cli/command_line/command_line.h"
#include "cli/command_line/shell_words.h"
#include "cli/terminal/json_log.h"
#include "cli/verbs/verbs.h"
#include "dialects/registry.h"

extern char** environ;

namespace muster::cli {
namespace {

std::map<std::string, std::string> read_environment() {
  std::map<std::string, std::string> variables;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const auto equals = text.find('=');
    if (equals != std::string_view::npos)
      variables[std::string(text.substr(0, equals))] = text.substr(equals + 1);
  }
  return variables;
}

std::string home_of(const std::map<std::string, std::string>& environment,
                    const std::string& flag) {
  const auto value = [&](const char* name) {
    const auto found = environment.find(name);
    return found == environment.end() ? std::string() : found->second;
  };
  std::string home = flag.empty() ? value("MUSTER_HOME") : flag;
  if (home.empty()) home = (value("HOME").empty() ? "/root" : value("HOME")) + "/.muster";
  return std::filesystem::absolute(home).lexically_normal();
}

void write_to(const Logger& log, Severity severity, std::string_view text) {
  switch (severity) {
    case Severity::Debug:
      return log.debug("{}", text);
    case Severity::Info:
      return log.info("{}", text);
    case Severity::Warning:
      return log.warning("{}", text);
    case Severity::Error:
      return log.error("{}", text);
  }
}

// Lines of the log, with nothing of a screen in their way. Other threads do not know the screen.
Logger log_beside(StandardOutput& output, Severity least, const std::string& format) {
  const Logger lines = format == "json" ? json_log_to_descriptor(STDERR_FILENO, least)
                                        : Logger::to_descriptor(STDERR_FILENO, least);
  const auto sink = [&output, lines, ours = std::this_thread::get_id()](
                        Severity severity, std::string_view component, std::string_view text) {
    if (std::this_thread::get_id() == ours) output.make_room();
    write_to(lines.named(std::string(component)), severity, text);
  };
  return {sink, least};
}

// They mostly wait: for a disk, for the end of a pod's processes.
constexpr int kMostThreads = 16;

}  // namespace

int main(int argc, char** argv) {
  // A reader that went away ends us like any filter; a socket that did must not.
  static_cast<void>(std::signal(SIGPIPE, SIG_IGN));
  StandardOutput output;
  Flags flags;
  Verb verb;
  if (const auto code = parse(argc, argv, output, flags, verb)) return output.finish(*code);
  rt::RealLoop loop;
  rt::Pool pool(kMostThreads);
  SystemRng rng;
  dialects::Settings settings;
  if (!flags.agent_image.empty()) settings.agent_image = flags.agent_image;
  const plan::Registry registry = dialects::make_registry(settings);
  const auto environment = read_environment();
  const Severity least = flags.verbosity >= 2   ? Severity::Debug
                         : flags.verbosity == 1 ? Severity::Info
                                                : Severity::Warning;
  const Severity shown = flags.long_running ? std::min(least, Severity::Info) : least;
  const Logger log = log_beside(output, shown, flags.log_format);
  LoggedOutput logged(output, log);
  const bool for_programs = flags.log_format == "json";
  Context context{.loop = loop,
                  .pool = pool,
                  .rng = rng,
                  .registry = registry,
                  .environment = environment,
                  .log = log,
                  .output = for_programs ? static_cast<Output&>(logged) : output,
                  .home = home_of(environment, flags.home),
                  .where = where_words(flags),
                  .typed = shell_words(argc, argv),
                  .insecure = flags.insecure,
                  .ns = flags.ns,
                  .all_namespaces = flags.all_namespaces,
                  .color = flags.color,
                  .image_files = flags.image_files,
                  .capacity = flags.capacity,
                  .agent_image = flags.agent_image};
  if (!flags.kubeconfig.empty()) context.kubeconfig = flags.kubeconfig;
  if (!flags.kube_context.empty()) context.kube_context = flags.kube_context;
  if (flags.either_place) {
    if (means_own_cluster(context, flags.home, cluster::kube::HostFiles())) context.kubeconfig = "";
    note_unused_kubeconfig(context);
  }
  return output.finish(loop.run(verb(context)));
}

}  // namespace muster::cli

int main(int argc, char** argv) {
  return muster::cli::main(argc, argv);
}
