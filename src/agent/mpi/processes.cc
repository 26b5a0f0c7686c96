#include "agent/mpi/processes.h"

#include <dirent.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "agent/files.h"
#include "base/strings.h"

namespace muster::agent::mpi {
namespace {

constexpr int kLooks = 1000;

struct ProcessFacts {
  pid_t pid = 0;
  pid_t parent = 0;
  pid_t session = 0;
  std::int64_t began = 0;
  bool ended = false;
};

std::optional<ProcessFacts> facts_of(pid_t pid) {
  const auto text = read_file(fmt::format("/proc/{}/stat", pid));
  if (!text) return std::nullopt;
  // The name in parentheses may hold anything; after the last one come the fields from the third
  // on.
  const auto close = text->rfind(')');
  if (close == std::string::npos) return std::nullopt;
  const auto words = split(trim(std::string_view(*text).substr(close + 1)), ' ');
  if (words.size() < 20) return std::nullopt;
  const auto number = [&](std::size_t at) { return parse_int(words[at]).value_or(0); };
  return ProcessFacts{.pid = pid,
                      .parent = static_cast<pid_t>(number(1)),
                      .session = static_cast<pid_t>(number(3)),
                      .began = number(19),
                      .ended = words[0] == "Z"};
}

std::vector<ProcessFacts> all_processes() {
  std::vector<ProcessFacts> out;
  const std::unique_ptr<DIR, decltype(&::closedir)> directory(::opendir("/proc"), ::closedir);
  if (!directory) return out;
  while (const dirent* entry = ::readdir(directory.get())) {
    const auto pid = parse_int(entry->d_name);
    if (!pid) continue;
    if (auto facts = facts_of(static_cast<pid_t>(*pid))) out.push_back(*facts);
  }
  return out;
}

}  // namespace

void signal_session(pid_t session, int number) {
  for (const auto& process : all_processes())
    if (process.session == session && !process.ended) ::kill(process.pid, number);
}

bool session_has_processes(pid_t session) {
  return std::ranges::any_of(all_processes(), [session](const ProcessFacts& process) {
    return process.session == session && !process.ended;
  });
}

std::int64_t start_time_of(pid_t pid) {
  const auto facts = facts_of(pid);
  return facts ? facts->began : 0;
}

std::string own_program() {
  std::error_code error;
  const auto path = std::filesystem::read_symlink("/proc/self/exe", error);
  return error ? "/muster/bin/muster-agent" : path.string();
}

void end_descendants() {
  // What is orphaned by this becomes our child and is found the next time. One that cannot end now,
  // because the kernel holds it, is left to the container's end.
  bool found = true;
  for (int look = 0; found && look < kLooks; ++look) {
    found = false;
    for (const auto& process : all_processes()) {
      if (process.parent != ::getpid() || process.ended) continue;
      found = ::kill(process.pid, SIGKILL) == 0 || found;
    }
    if (found) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

}  // namespace muster::agent::mpi
