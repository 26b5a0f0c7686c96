#include "agent/mpi/settings.h"

#include <unistd.h>

#include <fmt/format.h>

#include "agent/files.h"
#include "base/strings.h"

namespace muster::agent::mpi {
namespace {

constexpr auto kKeyFile = "/muster/key/key";
// Names the protocol as well: a key is never used with another one.
constexpr auto kIdentity = "muster-mpi-1";
constexpr std::size_t kKeyDigits = 64;
constexpr std::uint16_t kDefaultSshPort = 22;

int digit_of(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

// The error never quotes it.
Result<Secret> decode_key(std::string_view text, const std::string& file) {
  const auto wrong =
      fail(ErrorCode::Invalid,
           fmt::format("{} must hold {} hexadecimal digits (0-9, a-f)", file, kKeyDigits));
  if (text.size() != kKeyDigits) return wrong;
  std::string bytes;
  for (std::size_t at = 0; at < text.size(); at += 2) {
    const int high = digit_of(text[at]);
    const int low = digit_of(text[at + 1]);
    if (high < 0 || low < 0) return wrong;
    bytes.push_back(static_cast<char>(high * 16 + low));
  }
  return Secret(std::move(bytes));
}

Result<std::uint16_t> read_port(const Environment& environment, const char* name,
                                std::uint16_t otherwise) {
  const auto text = environment.get(name);
  if (text.empty()) return otherwise;
  const auto number = parse_int(text);
  if (!number || *number < 1 || *number > 65535) {
    return fail(ErrorCode::Invalid, fmt::format("{} is \"{}\"; a port is 1 to 65535", name, text));
  }
  return static_cast<std::uint16_t>(*number);
}

}  // namespace

Result<Settings> read_settings(const Environment& environment) {
  Settings settings;
  auto file = environment.get("MUSTER_MPI_KEY");
  if (file.empty()) file = kKeyFile;
  const auto text = read_file(file);
  if (!text) return fail(text.error().in("the job's key"));
  settings.key.emplace(
      net::TlsKeyOptions{.identity = kIdentity, .key = TRY(decode_key(trim(*text), file))});
  settings.port = TRY(read_port(environment, "MUSTER_MPI_PORT", kDefaultPort));
  settings.service = environment.get("MUSTER_MPI_SERVICE");
  return settings;
}

bool uses_ssh(const Environment& environment) {
  const auto agent = environment.get("OMPI_MCA_plm_rsh_agent");
  const auto program = agent.substr(0, agent.find(' '));
  return program == "ssh" || program.ends_with("/ssh");
}

Result<Settings> read_ssh_settings(const Environment& environment) {
  return Settings{.port = TRY(read_port(environment, "MUSTER_SSH_PORT", kDefaultSshPort)),
                  .service = environment.get("MUSTER_MPI_SERVICE")};
}

Result<Duration> read_wait(const Environment& environment, Duration otherwise) {
  const auto text = environment.get("MUSTER_MPI_WAIT");
  if (text.empty()) return otherwise;
  const auto seconds = parse_int(text);
  if (!seconds || *seconds < 0) {
    return fail(
        ErrorCode::Invalid,
        fmt::format("MUSTER_MPI_WAIT is \"{}\"; it is a number of seconds, 0: without end", text));
  }
  return seconds_saturating(*seconds);
}

std::string full_name(const std::string& host, const std::string& service) {
  if (service.empty() || host.find_first_of(".:") != std::string::npos) return host;
  return host + "." + service;
}

bool is_own_name(const std::string& host, const std::string& hostname, const std::string& service) {
  if (host == hostname) return true;
  if (service.empty()) return false;
  const auto full = full_name(hostname, service);
  return host == full || host.starts_with(full + ".");
}

std::string own_hostname() {
  char name[256] = {};
  return ::gethostname(name, sizeof name - 1) == 0 ? name : "";
}

}  // namespace muster::agent::mpi
