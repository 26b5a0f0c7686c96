#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>

#include <fmt/format.h>

#include "agent/files.h"
#include "agent/mpi/options.h"
#include "agent/mpi/settings.h"
#include "agent/mpi/verbs.h"

namespace muster::agent::mpi {
namespace {

// Where OpenSSH's server keeps its unprivileged part; Debian's does not start without it.
constexpr auto kSeparation = "/run/sshd";

// A directory that only we can read. The Secret's own may be written by all, and its files be read
// by all: sshd trusts neither.
Result<std::string> make_private_directory() {
  for (std::string name : {"/run/muster-sshd-XXXXXX", "/tmp/muster-sshd-XXXXXX"}) {
    if (::mkdtemp(name.data()) != nullptr) return name;
  }
  return fail_errno("making a directory in /run or /tmp");
}

Result<void> write_private(const std::string& path, const std::string& text) {
  const Fd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!file.valid()) return fail_errno("create " + path);
  if (::write(file.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()))
    return fail_errno("write " + path);
  return {};
}

// NAME="VALUE" as sshd_config reads it; nothing for what it could not read.
std::string assignment(std::string_view variable) {
  const auto equals = variable.find('=');
  if (equals == 0 || equals == std::string_view::npos || variable.contains('\n')) return {};
  std::string out = fmt::format(" \"{}=", variable.substr(0, equals));
  for (const char c : variable.substr(equals + 1)) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

std::string sshd_config(const std::string& directory, std::uint16_t port,
                        const std::vector<std::string>& environment) {
  std::string variables;
  for (const auto& variable : environment) variables += assignment(variable);
  return fmt::format(
      "Port {1}\nHostKey {0}/host_key\nAuthorizedKeysFile {0}/authorized_keys\nPidFile none\n"
      "AuthenticationMethods publickey\nPasswordAuthentication no\n"
      "ChallengeResponseAuthentication no\nPermitRootLogin prohibit-password\nUsePAM no\n"
      "AllowTcpForwarding no\nAllowAgentForwarding no\nX11Forwarding no\nPrintMotd no\n"
      "ClientAliveInterval 20\nClientAliveCountMax 3\n{2}{3}{4}",
      directory, port, variables.empty() ? "" : "SetEnv", variables, variables.empty() ? "" : "\n");
}

}  // namespace

Task<Result<int>> sshd(VerbContext& context) {
  auto options = CO_TRY(read_options(context.arguments, {"--sshd", "--auth"}, {}, "sshd")).values;
  const auto settings = CO_TRY(read_ssh_settings(context.environment));
  const auto directory = CO_TRY(make_private_directory());
  for (const auto* name : {"host_key", "authorized_keys"}) {
    CO_TRY(write_private(fmt::format("{}/{}", directory, name),
                         CO_TRY(read_file(fmt::format("{}/{}", options["--auth"], name)))));
  }
  std::vector<std::string> environment;
  for (char** entry = environ; *entry != nullptr; ++entry) environment.emplace_back(*entry);
  const auto config = directory + "/sshd_config";
  CO_TRY(write_private(config, sshd_config(directory, settings.port, environment)));
  ::mkdir(kSeparation, 0755);  // where it is there, or cannot be, sshd itself says what is wrong
  static_cast<void>(std::signal(SIGPIPE, SIG_DFL));
  const auto program = options["--sshd"];
  ::execl(program.c_str(), program.c_str(), "-D", "-e", "-f", config.c_str(), nullptr);
  co_return fail_errno("starting " + program);
}

}  // namespace muster::agent::mpi
