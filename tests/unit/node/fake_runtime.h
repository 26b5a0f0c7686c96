#pragma once

#include <signal.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/strings.h"
#include "node/runtime/runtime.h"
#include "rt/loop.h"
#include "rt/wait.h"

namespace muster::node {

// Says its own command and ends.
class FakeProgram final : public rt::RemoteProgram {
 public:
  FakeProgram(std::string command, int exit_code)
      : command_(std::move(command)), exit_code_(exit_code) {}
  Task<Result<Event>> next() override {
    if (said_) co_return rt::ProgramExit{.code = exit_code_};
    said_ = true;
    co_return rt::ProgramOutput{.bytes = command_ + "\n"};
  }
  Task<Result<void>> write(std::string) override { co_return Result<void>{}; }
  Task<Result<void>> end_input() override { co_return Result<void>{}; }
  Task<Result<void>> resize(rt::WindowSize) override { co_return Result<void>{}; }

 private:
  std::string command_;
  int exit_code_;
  bool said_ = false;
};

// A machine in virtual time that keeps the contract of Runtime: an attempt runs at most once, exits
// are remembered until the sandbox is removed, and everything outlives the agent. What a container
// does is its command line:
//   run SECONDS EXIT_CODE   ends by itself;   SIGTERM ends it with 143
//   serve                   runs until it is told to end
//   stubborn                the same, deaf to SIGTERM
//   missing                 there is no such program
//   misplaced               the machine says that its configuration does not work
class FakeRuntime final : public Runtime {
 public:
  explicit FakeRuntime(rt::Loop& loop, std::string logs = "")
      : loop_(loop), logs_(std::move(logs)) {}

  struct Process {
    ContainerSpec spec;
    ContainerStart start;
    std::optional<ContainerExit> exit;
    std::unique_ptr<rt::Event> ended;
    std::unique_ptr<rt::Timer> timer;
  };
  struct Pod {
    SandboxSpec spec;
    Sandbox sandbox;
    bool alive = true;
    std::string unknown;  // why the next adoption cannot say anything about it
    std::map<std::pair<std::string, int>, Process> processes;
    std::vector<ServiceRule> rules;
  };

  // --- what tests look at and do

  std::map<std::string, Pod> pods;
  std::vector<std::string> history;  // "start uid/name/attempt", "signal …", "kill …", "exec …"
  std::map<std::string, int> exec_answers;  // exit code by first word; missing: 0
  std::map<std::uint16_t, bool> open_ports;
  std::map<std::uint16_t, int> http_answers;  // status by port; missing: nobody is there
  std::optional<Error> sandbox_error;
  Duration sandbox_takes = std::chrono::milliseconds(1);
  bool oom_next = false;
  std::string message_next;
  Bridge meeting_place;
  std::map<std::string, std::int64_t> written;  // files that each container wrote, by directory

  DiskSpace space;
  std::map<std::string, std::map<std::string, linux::DiskUse>> on_disk;  // by uid and container
  int measured = 0;                                                      // how many pods were
  // A container writes so much.
  void write(const std::string& uid, const std::string& container, std::int64_t bytes) {
    on_disk[uid][container].bytes += bytes;
    ++on_disk[uid][container].files;
    space.available -= bytes;
  }

  Process* find(const std::string& uid, const std::string& name, int attempt) {
    const auto pod = pods.find(uid);
    if (pod == pods.end()) return nullptr;
    const auto process = pod->second.processes.find({name, attempt});
    return process == pod->second.processes.end() ? nullptr : &process->second;
  }
  int starts_of(const std::string& uid, const std::string& name) const {
    int count = 0;
    for (const auto& line : history) {
      if (line.starts_with(fmt::format("start {}/{}/", uid, name))) ++count;
    }
    return count;
  }
  bool did(const std::string& line) const {
    return std::find(history.begin(), history.end(), line) != history.end();
  }
  // The machine restarts: every process is gone, the records stay.
  void reboot() {
    for (auto& [uid, pod] : pods) {
      pod.alive = false;
      for (auto& [key, process] : pod.processes) {
        if (!process.exit) end(process, {.exit_code = 137, .unknown = true});
      }
    }
  }
  void end(Process& process, ContainerExit exit) {
    if (process.exit) return;
    process.timer->cancel();
    exit.started = process.start.started;
    exit.finished = loop_.now();
    if (std::exchange(oom_next, false)) exit.oom_killed = true;
    exit.termination_message = std::exchange(message_next, "");
    process.exit = exit;
    process.ended->set();
  }

  // --- Runtime

  Task<Result<std::vector<AdoptedSandbox>>> adopt() override {
    std::vector<AdoptedSandbox> out;
    for (const auto& [uid, pod] : pods) {
      if (!pod.unknown.empty()) {
        out.push_back({.sandbox = {.pod_uid = uid}, .unknown = pod.unknown});
        continue;
      }
      AdoptedSandbox sandbox{.sandbox = pod.sandbox,
                             .pod_namespace = pod.spec.pod_namespace,
                             .pod_name = pod.spec.pod_name,
                             .alive = pod.alive};
      for (const auto& [key, process] : pod.processes) {
        sandbox.containers.push_back({.name = key.first,
                                      .attempt = key.second,
                                      .start = process.start,
                                      .exit = process.exit});
      }
      out.push_back(std::move(sandbox));
    }
    co_return out;
  }

  Task<Result<Sandbox>> create_sandbox(SandboxSpec spec, std::vector<ServiceRule> rules) override {
    CO_TRY(co_await rt::sleep_for(loop_, sandbox_takes));
    if (sandbox_error) co_return fail(*sandbox_error);
    auto& pod = pods[spec.pod_uid];
    if (pod.sandbox.pod_uid.empty()) {
      pod.sandbox = {.pod_uid = spec.pod_uid,
                     .address = fmt::format("10.222.0.{}", ++last_address_),
                     .gateway = "10.222.0.1"};
    }
    pod.alive = true;
    pod.spec = std::move(spec);
    pod.rules = std::move(rules);
    co_return pod.sandbox;
  }

  Task<Result<StartOutcome>> start_container(std::string uid, ContainerSpec spec) override {
    CO_TRY(co_await moment());
    const auto found = pods.find(uid);
    if (found == pods.end() || !found->second.alive) {
      co_return fail(ErrorCode::NotFound, "no sandbox");
    }
    if (spec.argv.front() == "missing") {
      co_return StartOutcome{.failure = StartFailure::NotFound, .message = "missing: not found"};
    }
    if (spec.argv.front() == "misplaced") {
      co_return StartOutcome{.failure = StartFailure::Configuration, .message = "cannot mount"};
    }
    const std::pair key{spec.name, spec.attempt};
    auto& process = found->second.processes[key];
    if (process.ended) co_return StartOutcome{.start = process.start};
    history.push_back(fmt::format("start {}/{}/{}", uid, spec.name, spec.attempt));
    process.start = {.pid = ++last_pid_,
                     .started = loop_.now(),
                     .log_path = logs_ + "/" + uid + "-" + spec.name};
    process.ended = std::make_unique<rt::Event>(loop_);
    process.timer = std::make_unique<rt::Timer>(loop_);
    process.spec = std::move(spec);
    run(process);
    co_return StartOutcome{.start = process.start};
  }

  Task<Result<ContainerExit>> wait_container(std::string uid, std::string name,
                                             int attempt) override {
    auto* process = find(uid, name, attempt);
    if (process == nullptr) co_return fail(ErrorCode::NotFound, "never started");
    if (!process->exit) CO_TRY(co_await process->ended->wait());
    process = find(uid, name, attempt);
    if (process == nullptr) co_return fail(ErrorCode::NotFound, "removed");
    co_return *process->exit;
  }

  Task<std::int64_t> count_written(std::string, std::string, int, std::string directory) override {
    const auto found = written.find(directory);
    co_return found == written.end() ? 0 : found->second;
  }
  Task<Result<void>> discard_written(std::string uid, std::string name, int attempt) override {
    CO_TRY(co_await moment());
    history.push_back(fmt::format("discard {}/{}/{}", uid, name, attempt));
    const auto found = on_disk.find(uid);
    if (found != on_disk.end()) {
      space.available += found->second[name].bytes;
      found->second.erase(name);
    }
    co_return Result<void>{};
  }
  Task<std::map<std::string, linux::DiskUse>> disk_use(std::string uid) override {
    ++measured;
    const auto found = on_disk.find(uid);
    co_return found == on_disk.end() ? std::map<std::string, linux::DiskUse>{} : found->second;
  }
  Task<Result<DiskSpace>> disk_space() override { co_return space; }

  Task<Result<void>> signal_container(std::string uid, std::string name, int attempt,
                                      int signal) override {
    CO_TRY(co_await moment());
    history.push_back(fmt::format("signal {} {}/{}/{}", signal, uid, name, attempt));
    auto* process = find(uid, name, attempt);
    if (process == nullptr || process->exit) co_return fail(ErrorCode::NotFound, "ended");
    if (process->spec.argv.front() != "stubborn") {
      end(*process, {.exit_code = 128 + signal, .signal = signal});
    }
    co_return Result<void>{};
  }

  Task<Result<void>> kill_container(std::string uid, std::string name, int attempt) override {
    CO_TRY(co_await moment());
    history.push_back(fmt::format("kill {}/{}/{}", uid, name, attempt));
    if (auto* process = find(uid, name, attempt)) {
      end(*process, {.exit_code = 128 + SIGKILL, .signal = SIGKILL});
    }
    co_return Result<void>{};
  }

  Task<Result<ExecResult>> exec(std::string uid, std::string name, std::vector<std::string> argv,
                                Duration) override {
    CO_TRY(co_await moment());
    history.push_back(fmt::format("exec {}/{}: {}", uid, name, join(argv, " ")));
    const auto answer = exec_answers.find(argv.front());
    co_return ExecResult{.exit_code = answer == exec_answers.end() ? 0 : answer->second};
  }

  Task<Result<std::unique_ptr<rt::RemoteProgram>>> open_session(std::string uid,
                                                                SessionSpec spec) override {
    CO_TRY(co_await moment());
    const auto command = join(spec.argv, " ");
    history.push_back(fmt::format("session {}/{}: {}", uid, spec.container, command));
    const auto answer = exec_answers.find(spec.argv.front());
    co_return std::make_unique<FakeProgram>(command,
                                            answer == exec_answers.end() ? 0 : answer->second);
  }

  Task<Result<void>> set_services(std::string uid, std::vector<ServiceRule> rules) override {
    CO_TRY(co_await moment());
    const auto found = pods.find(uid);
    if (found != pods.end()) found->second.rules = std::move(rules);
    co_return Result<void>{};
  }

  Task<Result<void>> kill_sandbox(std::string uid) override {
    CO_TRY(co_await moment());
    kill_all(uid);
    co_return Result<void>{};
  }

  Task<Result<void>> remove_sandbox(std::string uid) override {
    CO_TRY(co_await moment());
    history.push_back("remove " + uid);
    kill_all(uid);
    // The waiters must see the exits before the records go.
    CO_TRY(co_await rt::yield(loop_));
    pods.erase(uid);
    co_return Result<void>{};
  }

  Task<Result<bool>> tcp_check(std::string, std::uint16_t port, Duration) override {
    CO_TRY(co_await moment());
    const auto found = open_ports.find(port);
    co_return found != open_ports.end() && found->second;
  }

  Task<Result<int>> http_check(HttpCheck check, Duration) override {
    CO_TRY(co_await moment());
    std::string headers;
    for (const auto& [name, value] : check.headers) headers += fmt::format(" {}={}", name, value);
    history.push_back(fmt::format("get {}:{}{}{}", check.address, check.port, check.path, headers));
    const auto found = http_answers.find(check.port);
    if (found == http_answers.end()) co_return fail(ErrorCode::Unavailable, "connection refused");
    co_return found->second;
  }

  Bridge bridge() const override { return meeting_place; }
  std::string log_path(const std::string&, const std::string&, const std::string& uid,
                       const std::string& container, int attempt) const override {
    return fmt::format("{}/{}-{}-{}.log", logs_, uid, container, attempt);
  }
  Task<void> close() override { co_return; }

 private:
  Task<Result<void>> moment() { return rt::sleep_for(loop_, std::chrono::milliseconds(1)); }

  void kill_all(const std::string& uid) {
    const auto found = pods.find(uid);
    if (found == pods.end()) return;
    for (auto& [key, process] : found->second.processes) {
      end(process, {.exit_code = 128 + SIGKILL, .signal = SIGKILL});
    }
  }
  void run(Process& process) {
    const auto& argv = process.spec.argv;
    if (argv.front() != "run") return;
    const auto seconds = parse_int(argv.at(1)).value_or(0);
    const auto code = static_cast<int>(parse_int(argv.at(2)).value_or(0));
    process.timer->start(std::chrono::seconds(seconds),
                         [this, &process, code] { end(process, {.exit_code = code}); });
  }

  rt::Loop& loop_;
  std::string logs_;
  int last_address_ = 1;
  int last_pid_ = 1000;
};

}  // namespace muster::node
