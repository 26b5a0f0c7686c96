#include "machine.h"

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "base/strings.h"

namespace muster::node {

using namespace std::chrono_literals;

std::string read_text(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

namespace {

std::set<std::string> names_in(const std::string& directory) {
  std::set<std::string> names;
  std::error_code error;
  for (std::filesystem::directory_iterator it(directory, error), end; !error && it != end;
       it.increment(error)) {
    names.insert(it->path().filename().string());
  }
  return names;
}

std::string output_of(const char* command) {
  std::string out;
  FILE* pipe = ::popen(command, "r");
  if (pipe == nullptr) return out;
  char chunk[4096];
  while (const auto got = std::fread(chunk, 1, sizeof chunk, pipe)) out.append(chunk, got);
  ::pclose(pipe);
  return out;
}

void describe_processes(std::ostream& out) {
  for (const auto& name : names_in("/proc")) {
    if (!parse_int(name)) continue;
    const auto comm = std::string(trim(read_text("/proc/" + name + "/comm")));
    constexpr std::array kOurs = {"muster-nursery", "muster-shim", "muster-init", "runtime_probe"};
    if (std::ranges::find(kOurs, comm) == kOurs.end()) continue;
    // What has no memory any more is dead. It may still be listed until the machine's own init has
    // reaped it; only a zombie that is our child would be our fault.
    const auto status = read_text("/proc/" + name + "/status");
    const bool dead = status.find("VmSize:") == std::string::npos;
    if (dead && status.find("PPid:\t" + std::to_string(::getpid()) + "\n") == std::string::npos)
      continue;
    out << "process " << comm << " " << name << "\n";
  }
}

void describe_lines(std::ostream& out, const std::string& path, std::string_view word) {
  std::istringstream lines(read_text(path));
  for (std::string line; std::getline(lines, line);) {
    if (line.find(word) != std::string::npos) out << line << "\n";
  }
}

}  // namespace

// What a node leaves on a machine, and nothing of the others who live there: their mounts, links
// and namespaces come and go while a test runs.
std::set<std::string> describe_machine() {
  std::ostringstream out;
  describe_processes(out);
  describe_lines(out, "/proc/self/mounts", "muster");
  describe_lines(out, "/proc/net/route", "muster");
  describe_lines(out, "/proc/net/route", "*\t");  // blackholes
  for (const auto& name : names_in("/sys/class/net")) out << "link " << name << "\n";
  for (const auto& name : names_in("/dev/shm")) {
    if (name.starts_with("muster")) out << "shared memory " << name << "\n";
  }
  out << output_of("find /sys/fs/cgroup -type d -path '*muster*' 2>/dev/null | sort");
  out << output_of("nft list tables 2>/dev/null | grep muster");
  std::set<std::string> lines;
  std::istringstream text(out.str());
  for (std::string line; std::getline(text, line);) lines.insert(line);
  return lines;
}

void RuntimeTest::SetUp() {
  ASSERT_EQ(::geteuid(), 0U) << "the runtime needs root";
  before_ = describe_machine();
  char path[] = "/var/tmp/muster-runtime-XXXXXX";
  ASSERT_NE(::mkdtemp(path), nullptr);
  home_ = path;
}

void RuntimeTest::TearDown() {
  close_runtime();
  auto left = describe_machine();
  // What somebody else had left before may well be gone: an empty cgroup of ours is taken away by
  // whoever closes last.
  std::erase_if(left, [this](const std::string& line) { return before_.contains(line); });
  EXPECT_EQ(left, std::set<std::string>()) << "was left behind";
  std::filesystem::remove_all(home_);
  EXPECT_FALSE(std::filesystem::exists(state())) << "was left behind";
  std::filesystem::remove_all(state());
}

void RuntimeTest::open_runtime() {
  loop_ = std::make_unique<rt::RealLoop>();
  pool_ = std::make_unique<rt::Pool>(4);
  auto runtime = create_runtime(*loop_, *pool_, {.home = home_, .shim_path = MUSTER_SHIM});
  ASSERT_TRUE(runtime) << runtime.error().message;
  runtime_ = std::move(*runtime);
}

void RuntimeTest::close_runtime() {
  if (runtime_) run(runtime_->close());
  runtime_.reset();
  pool_.reset();
  loop_.reset();
}

Sandbox RuntimeTest::pod(const std::string& uid, SandboxSpec spec, std::vector<ServiceRule> rules) {
  spec.pod_uid = uid;
  spec.pod_namespace = "default";
  spec.pod_name = "pod-" + uid;
  if (spec.hostname.empty()) spec.hostname = "host-" + uid;
  auto made = run(runtime_->create_sandbox(std::move(spec), std::move(rules)));
  EXPECT_TRUE(made) << made.error().message;
  return made.value_or(Sandbox{});
}

ContainerSpec RuntimeTest::container(std::vector<std::string> argv, int attempt) {
  ContainerSpec spec{.name = "main",
                     .attempt = attempt,
                     .argv = std::move(argv),
                     .env = {{"PATH", "/usr/bin:/bin"}}};
  // The build may lie under /tmp, which is private to a pod.
  const std::string directory = std::filesystem::path(RUNTIME_PROBE).parent_path();
  if (directory.starts_with("/tmp/")) {
    spec.mounts.push_back({.source = directory, .target = directory, .read_only = true});
  }
  return spec;
}

ContainerStart RuntimeTest::start(const std::string& uid, ContainerSpec spec) {
  auto outcome = run(runtime_->start_container(uid, std::move(spec)));
  EXPECT_TRUE(outcome) << outcome.error().message;
  if (!outcome) return {};
  EXPECT_TRUE(outcome->start) << outcome->message;
  return outcome->start.value_or(ContainerStart{});
}

ContainerExit RuntimeTest::wait(const std::string& uid, const std::string& name, int attempt) {
  auto exit = run(rt::with_timeout(*loop_, 20s, runtime_->wait_container(uid, name, attempt)));
  EXPECT_TRUE(exit) << exit.error().message;
  return exit.value_or(ContainerExit{.exit_code = -1});
}

ContainerExit RuntimeTest::run_container(const std::string& uid, ContainerSpec spec) {
  const auto name = spec.name;
  const auto attempt = spec.attempt;
  start(uid, std::move(spec));
  return wait(uid, name, attempt);
}

std::string RuntimeTest::log_file(const std::string& uid, const std::string& name, int attempt) {
  return read_text(runtime_->log_path("default", "pod-" + uid, uid, name, attempt));
}

std::string RuntimeTest::output(const std::string& uid, const std::string& name, int attempt) {
  std::string out;
  for (const auto line : split(log_file(uid, name, attempt), '\n')) {
    const auto first = line.find(' ');
    const auto second = line.find(' ', first + 1);
    if (first == std::string_view::npos || second == std::string_view::npos) continue;
    out += line.substr(second + 3);
    if (line[second + 1] == 'F') out += '\n';
  }
  return out;
}

bool RuntimeTest::await_output(const std::string& uid, const std::string& text,
                               const std::string& name) {
  for (int i = 0; i < 2000; ++i) {
    if (output(uid, name).find(text) != std::string::npos) return true;
    [[maybe_unused]] const auto slept = run(rt::sleep_for(*loop_, 5ms));
  }
  return false;
}

void RuntimeTest::kill_the(const std::string& name, const std::string& word) {
  for (const auto& entry : names_in("/proc")) {
    const std::string process = "/proc/" + entry;
    if (read_text(process + "/comm") != name + "\n" ||
        read_text(process + "/cmdline").find(word) == std::string::npos)
      continue;
    ::kill(std::atoi(entry.c_str()), SIGKILL);
    return;
  }
  FAIL() << "no " << name << " of " << word;
}

void RuntimeTest::remove(const std::string& uid) {
  const auto removed = run(runtime_->remove_sandbox(uid));
  EXPECT_TRUE(removed) << removed.error().message;
}

}  // namespace muster::node
