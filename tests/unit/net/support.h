#pragma once

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/check.h"
#include "net/stream.h"
#include "net/tls/tls.h"
#include "rt/real_loop.h"

// What the tests of this folder share: a scratch folder, certificates, foreign programs, descriptor
// counts.
namespace muster::net::testing {

class ScratchFolder {
 public:
  ScratchFolder() {
    std::string name = "/tmp/muster-net-XXXXXX";
    CHECK(::mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder() { std::filesystem::remove_all(path_); }

  [[nodiscard]] std::string path(const std::string& name) const { return path_ + "/" + name; }
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(path(name)) << text;
    return path(name);
  }

 private:
  std::string path_;
};

// A CA with a server certificate for localhost and 127.0.0.1, and a client certificate.
struct Certificates {
  Identity ca;
  Identity server;
  Identity client;

  static Certificates make() {
    const Time now = SystemClock().now();
    Certificates out;
    out.ca =
        make_self_signed({.common_name = "test CA", .use = CertificateUse::Authority}, now).value();
    out.server =
        make_signed(
            {.common_name = "server", .dns_names = {"localhost"}, .ip_addresses = {"127.0.0.1"}},
            out.ca, now)
            .value();
    out.client =
        make_signed(
            {.common_name = "alice", .organizations = {"team"}, .use = CertificateUse::Client},
            out.ca, now)
            .value();
    return out;
  }
};

// A program that is killed at the end.
class Program {
 public:
  explicit Program(std::vector<std::string> arguments) {
    std::vector<char*> argv;
    for (auto& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    ::posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
    CHECK(::posix_spawnp(&pid_, argv[0], &actions, nullptr, argv.data(), environ) == 0);
    ::posix_spawn_file_actions_destroy(&actions);
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  ~Program() { kill(); }
  void kill() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }
  [[nodiscard]] int wait() {
    int status = 0;
    ::waitpid(std::exchange(pid_, 0), &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

 private:
  pid_t pid_ = 0;
};

inline std::size_t open_descriptors() {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/fd"))
    ++count;
  return count;
}

inline std::uint16_t free_port(rt::RealLoop& loop) {
  return listen_tcp(loop, {}).value()->port();
}

}  // namespace muster::net::testing
