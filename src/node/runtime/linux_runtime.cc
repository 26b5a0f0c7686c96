#include "node/runtime/linux_runtime.h"

#include <fcntl.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include <fmt/format.h>

#include "base/strings.h"
#include "node/linux/cgroup.h"
#include "node/linux/files.h"
#include "node/linux/shim_groups.h"
#include "node/runtime/host.h"
#include "node/runtime/log_places.h"
#include "node/runtime/rootless/own_namespaces.h"
#include "node/runtime/shim_client.h"
#include "node/runtime/unknown_pod.h"
#include "node/runtime/written_files.h"
#include "node/shim/nursery.h"
#include "node/shim/records.h"
#include "node/shim/root/root.h"

namespace muster::node {

namespace {

using namespace std::chrono_literals;
using shim::Operation;

// A set-up takes milliseconds; a machine that needs this long is out of order.
constexpr Duration kSetUpLimit = 30s;
constexpr Duration kShutdownLimit = 20s;

}  // namespace

std::string LinuxRuntime::pod_directory(const std::string& pod_uid) const {
  const auto known = pods_.find(pod_uid);
  if (known != pods_.end() && !known->second.directory.empty()) return known->second.directory;
  return state_directory(home_key_) + "/" + pod_uid;
}

// Those of an earlier Muster's pod lie beside its records.
std::string LinuxRuntime::layers_of(const std::string& pod_uid,
                                    const shim::ContainerId& container) const {
  const auto on_disk = options_.home + "/pods/" + pod_uid;
  const auto directory = pod_directory(pod_uid);
  if (directory == on_disk) return shim::container_directory(directory, container);
  return shim::layers_directory(on_disk, container);
}

std::string LinuxRuntime::log_directory(const std::string& pod_namespace,
                                        const std::string& pod_name,
                                        const std::string& pod_uid) const {
  return node::log_directory(options_.home, pod_namespace, pod_name, pod_uid);
}

std::string LinuxRuntime::log_path(const std::string& pod_namespace, const std::string& pod_name,
                                   const std::string& pod_uid, const std::string& container,
                                   int attempt) const {
  return node::log_path(log_directory(pod_namespace, pod_name, pod_uid), container, attempt);
}

Task<Result<ShimQuestion>> LinuxRuntime::put_question(std::string pod_uid,
                                                      std::string request_bytes) {
  if (!linux::is_safe_name(pod_uid))
    co_return fail(ErrorCode::Invalid, "pod uid \"" + pod_uid + "\"");
  const auto known = pods_.find(pod_uid);
  const int version = known == pods_.end() ? shim::kWireVersion : known->second.shim_version;
  co_return co_await put_to_shim(loop_, pod_directory(pod_uid), std::move(request_bytes), version);
}

Task<Result<std::string>> LinuxRuntime::ask(std::string pod_uid, std::string request_bytes) {
  auto question = CO_TRY(co_await put_question(std::move(pod_uid), std::move(request_bytes)));
  co_return co_await question.next_answer();
}

Task<Result<void>> LinuxRuntime::ask_nothing(std::string pod_uid, std::string request_bytes) {
  CO_TRY(co_await ask(std::move(pod_uid), std::move(request_bytes)));
  co_return Result<void>{};
}

bool LinuxRuntime::any_unknown() const {
  return std::ranges::any_of(pods_, [](const auto& entry) { return entry.second.unknown; });
}

std::string LinuxRuntime::link_of(const std::string& pod_uid) const {
  return fmt::format("mst{:012x}", stable_hash(home_key_ + pod_uid) & 0xffffffffffffULL);
}

Result<shim::SandboxRecord> LinuxRuntime::make_record(SandboxSpec spec) {
  for (const auto& name : {spec.pod_uid, spec.pod_namespace, spec.pod_name}) {
    if (!linux::is_safe_name(name))
      return fail(ErrorCode::Invalid, "\"" + printable(name) + "\" cannot be the name of a file");
  }
  if (spec.shm_key.empty()) spec.shm_key = spec.pod_uid;
  if (!linux::is_safe_name(spec.shm_key))
    return fail(ErrorCode::Invalid, "shared memory key \"" + printable(spec.shm_key) + "\"");
  if (spec.hostname.size() > 64)
    return fail(ErrorCode::Invalid,
                "host name \"" + spec.hostname + "\" is longer than 64 characters");
  std::error_code no_error;  // what cannot be resolved stays as it is
  shim::SandboxRecord record{
      .prefix = network_.prefix(),
      .bridge = network_.bridge(),
      .service_range = options_.service_range,
      .cgroups = cgroups_,
      .log_directory = log_directory(spec.pod_namespace, spec.pod_name, spec.pod_uid),
      .log_quota = options_.log_quota_bytes,
      .hidden = std::filesystem::weakly_canonical(options_.home, no_error).string()};
  record.link = link_of(spec.pod_uid);
  record.shm_directory = shm_prefix() + spec.shm_key;
  if (spec.host_network) {
    record.address = host_address();
  } else {
    record.address = TRY(network_.allocate());
    record.gateway = network_.gateway();
  }
  record.spec = std::move(spec);
  return record;
}

Task<Result<Sandbox>> LinuxRuntime::create_sandbox(SandboxSpec spec,
                                                   std::vector<ServiceRule> rules) {
  const auto uid = spec.pod_uid;
  if (pods_.contains(uid) && pods_[uid].unknown)
    co_return fail(ErrorCode::Conflict, "pod " + uid + " has a shim that cannot be understood");
  // What is known of one that went down with the machine is not enough for a new life.
  if (!pods_.contains(uid) || pods_[uid].record.address.empty())
    pods_[uid].record = CO_TRY(make_record(std::move(spec)));
  const bool with_rules =
      shim::birth_message(pod_directory(uid), rules).size() <= shim::kMostBirthBytes;
  auto spawned = co_await spawn(uid, with_rules ? rules : std::vector<ServiceRule>{});
  const auto known = pods_.find(uid);
  if (known == pods_.end())
    co_return fail(ErrorCode::Gone, "pod " + uid + " was removed meanwhile");
  if (!spawned) co_return fail(spawned.error().in("sandbox of pod " + uid));
  if (!with_rules || !*spawned) CO_TRY(co_await set_services(uid, std::move(rules)));
  co_return Sandbox{.pod_uid = uid,
                    .address = known->second.record.address,
                    .gateway = known->second.record.gateway};
}

Task<Result<bool>> LinuxRuntime::spawn(std::string pod_uid, std::vector<ServiceRule> rules) {
  const auto directory = pod_directory(pod_uid);
  bool lost = false;
  for (auto left = kSetUpLimit; left > 0ns; left -= 10ms) {
    const bool elsewhere = births_++ % linux::kEntriesTogether == 0;
    auto spawned = CO_TRY(co_await off_loop([nursery = nursery_, directory, elsewhere, rules,
                                             home = options_.home, record = pods_[pod_uid].record] {
      if (elsewhere) {
        for (const char* place : {"/pods", "/logs"}) linux::move_elsewhere(home + place);
      }
      return spawn_shim(*nursery, directory, record, rules);
    }));
    if (spawned.valid()) {
      pods_[pod_uid].shim_version = shim::kWireVersion;
      rt::Descriptor ready(loop_, spawned.release());
      std::string buffer;
      auto answer = co_await rt::with_timeout(loop_, kSetUpLimit, read_shim_answer(ready, buffer));
      if (answer) {
        if (const auto pod = pods_.find(pod_uid); pod != pods_.end()) pod->second.ours = true;
        co_return true;
      }
      // A nursery that is killed takes along what it was asked and has not done.
      const bool again = answer.error().code == ErrorCode::Gone && !std::exchange(lost, true);
      if (!again) co_return fail(answer.error());
      continue;
    }
    // A shim has the pod: it answers as soon as the set-up is done, or goes when that failed.
    const auto answer = co_await ask(pod_uid, shim::request(Operation::List).bytes());
    if (answer) co_return false;
    if (answer.error().code != ErrorCode::Gone) co_return fail(answer.error());
    CO_TRY(co_await rt::sleep_for(loop_, 10ms));
  }
  co_return fail(ErrorCode::Timeout, "its shim does not answer");
}

Task<Result<StartOutcome>> LinuxRuntime::start_container(std::string pod_uid, ContainerSpec spec) {
  const auto known = pods_.find(pod_uid);
  const int version = known == pods_.end() ? shim::kWireVersion : known->second.shim_version;
  if (const auto field = shim::beyond_version(spec, version); !field.empty()) {
    co_return StartOutcome{.message =
                               "the pod was started by an earlier Muster, which could not obey " +
                               field + ": delete it to run it anew"};
  }
  const bool ours = known != pods_.end() && known->second.ours;
  auto out = shim::request(ours ? Operation::Run : Operation::Start, version);
  write(out, spec);
  auto question = CO_TRY(co_await put_question(pod_uid, out.bytes()));
  const auto answer = CO_TRY(co_await question.next_answer());
  shim::Reader in(answer);
  StartOutcome outcome;
  if (in.number() == 1) {
    auto& start = outcome.start.emplace();
    start.pid = static_cast<int>(in.number());
    start.started = Time(std::chrono::nanoseconds(in.number()));
    start.log_path = in.text();
  } else {
    shim::FailureRecord failure;
    read(in, failure);
    outcome.failure = failure.failure;
    outcome.message = std::move(failure.message);
  }
  if (!in.finished()) co_return fail(ErrorCode::Parse, "the shim's answer to a start");
  if (const auto pod = pods_.find(pod_uid); ours && outcome.start && pod != pods_.end())
    pod->second.started.insert_or_assign({spec.name, spec.attempt}, std::move(question));
  co_return outcome;
}

Task<Result<ContainerExit>> LinuxRuntime::wait_container(std::string pod_uid, std::string name,
                                                         int attempt) {
  auto out = shim::request(Operation::Wait);
  out.text(name).number(attempt);
  std::optional<ShimQuestion> asked;  // when it was started
  if (const auto pod = pods_.find(pod_uid); pod != pods_.end()) {
    if (auto found = pod->second.started.extract({name, attempt}))
      asked = std::move(found.mapped());
  }
  while (true) {
    Result<std::string> answer;
    if (asked) {
      answer = co_await asked->next_answer();
      asked.reset();
    } else {
      answer = co_await ask(pod_uid, out.bytes());
    }
    if (answer) co_return shim::decode<ContainerExit>(*answer);
    if (answer.error().code != ErrorCode::Gone) co_return fail(answer.error());
    const auto buried = co_await bury_pod(pod_uid);
    if (buried) co_return co_await exit_on_record(pod_uid, name, attempt);
    // Conflict: it has a new shim meanwhile, which knows.
    if (buried.error().code != ErrorCode::Conflict) co_return fail(buried.error());
  }
}

// Mostly nothing was written: then it costs two looks and no thread.
Task<std::int64_t> LinuxRuntime::count_written(std::string pod_uid, std::string name, int attempt,
                                               std::string directory) {
  const auto place = shim::container_directory(pod_directory(pod_uid), {name, attempt});
  const auto layers_directory = layers_of(pod_uid, {name, attempt});
  auto written = written_layers(layers_directory, directory);
  if (written.empty()) co_return 0;
  auto layers = std::make_shared<std::vector<WrittenLayer>>(std::move(written));
  const auto count = co_await off_loop([layers, layers_directory, place]() -> Result<std::int64_t> {
    auto except = made_for_view(layers_directory);
    except.merge(mounted_over(place));
    return count_files(*layers, except);
  });
  co_return count.value_or(0);
}

Task<Result<ContainerExit>> LinuxRuntime::exit_on_record(std::string pod_uid, std::string name,
                                                         int attempt) {
  const auto place = shim::container_directory(pod_directory(pod_uid), {name, attempt});
  const auto bytes = co_await off_loop([place] { return linux::read_file(place + "/exit"); });
  if (!bytes) {
    co_return fail(ErrorCode::NotFound,
                   fmt::format("container {} attempt {} was not started", name, attempt));
  }
  co_return shim::decode<ContainerExit>(*bytes);
}

Task<Result<void>> LinuxRuntime::bury_pod(std::string pod_uid) {
  const auto known = pods_.find(pod_uid);
  if (known == pods_.end()) co_return fail(ErrorCode::NotFound, "no pod " + pod_uid);
  co_return co_await off_loop([directory = pod_directory(pod_uid), record = known->second.record] {
    return bury(directory, record);
  });
}

Task<Result<void>> LinuxRuntime::end_shim(std::string pod_uid) {
  CO_TRY(co_await off_loop(
      [directory = pod_directory(pod_uid)] { return await_shim_end(directory); }));
  co_return co_await bury_pod(std::move(pod_uid));
}

Task<Result<void>> LinuxRuntime::end_unknown(std::string pod_uid) {
  co_return co_await off_loop(
      [directory = pod_directory(pod_uid), cgroup = linux::Cgroup(cgroups_, pod_uid)] {
        return end_unknown_pod(directory, cgroup);
      });
}

Task<Result<void>> LinuxRuntime::signal_container(std::string pod_uid, std::string name,
                                                  int attempt, int signal) {
  auto out = shim::request(Operation::Signal);
  out.text(name).number(attempt).number(signal);
  return ask_nothing(std::move(pod_uid), out.bytes());
}

Task<Result<void>> LinuxRuntime::kill_container(std::string pod_uid, std::string name,
                                                int attempt) {
  auto out = shim::request(Operation::KillContainer);
  out.text(name).number(attempt);
  return ask_nothing(std::move(pod_uid), out.bytes());
}

Task<Result<ExecResult>> LinuxRuntime::exec(std::string pod_uid, std::string name,
                                            std::vector<std::string> argv, Duration limit) {
  auto out = shim::request(Operation::Exec);
  out.text(name).texts(argv);
  out.number(std::chrono::ceil<std::chrono::milliseconds>(limit).count());
  const auto answer = CO_TRY(co_await ask(std::move(pod_uid), out.bytes()));
  co_return shim::decode<ExecResult>(answer);
}

Task<Result<std::unique_ptr<rt::RemoteProgram>>> LinuxRuntime::open_session(std::string pod_uid,
                                                                            SessionSpec spec) {
  const auto known = pods_.find(pod_uid);
  if (known == pods_.end()) co_return fail(ErrorCode::NotFound, "no pod " + pod_uid);
  auto out = shim::request(Operation::Session);
  write(out, spec);
  auto session = co_await open_shim_session(loop_, pod_directory(pod_uid), out.bytes(),
                                            known->second.shim_version);
  // A shim of an earlier Muster, which knows no sessions.
  if (!session && session.error().code == ErrorCode::BadRequest) {
    co_return fail(ErrorCode::Unavailable,
                   "the pod was started by an earlier Muster, which could not do this: " +
                       session.error().message);
  }
  co_return session;
}

Task<Result<void>> LinuxRuntime::set_services(std::string pod_uid, std::vector<ServiceRule> rules) {
  auto out = shim::request(Operation::SetServices);
  shim::write_all(out, rules);
  return ask_nothing(std::move(pod_uid), out.bytes());
}

Task<Result<void>> LinuxRuntime::kill_sandbox(std::string pod_uid) {
  auto killed = co_await ask_nothing(std::move(pod_uid), shim::request(Operation::Kill).bytes());
  if (!killed && killed.error().code == ErrorCode::Gone) co_return Result<void>{};
  co_return killed;
}

std::string LinuxRuntime::retire_shm(const std::string& directory) const {
  const bool in_use = std::ranges::any_of(
      pods_, [&](const auto& entry) { return entry.second.record.shm_directory == directory; });
  if (in_use || any_unknown()) return {};  // an unknown pod may have any of them
  // Renamed here on the loop: a pod that asks for the same key from now on gets a new one, and what
  // takes time happens to a directory that nobody can find.
  const auto retired = fmt::format("{}.{}", directory, loop_.now().time_since_epoch().count());
  return ::rename(directory.c_str(), retired.c_str()) == 0 ? retired : std::string();
}

Task<Result<void>> LinuxRuntime::sweep_shm() {
  std::error_code error;
  std::vector<std::string> unused;
  for (std::filesystem::directory_iterator it("/dev/shm", error), end; !error && it != end;
       it.increment(error)) {
    const auto path = it->path().string();
    if (!path.starts_with(shm_prefix())) continue;
    if (auto retired = retire_shm(path); !retired.empty()) unused.push_back(std::move(retired));
  }
  if (unused.empty()) co_return Result<void>{};
  co_return co_await off_loop([unused]() -> Result<void> {
    for (const auto& directory : unused) TRY(linux::remove_tree(directory));
    return {};
  });
}

Task<Result<void>> LinuxRuntime::shut_down(std::string pod_uid) {
  auto shutdown = ask(pod_uid, shim::request(Operation::Shutdown).bytes());
  // Whatever it answers: afterwards it is made sure of.
  const auto answer = co_await rt::with_timeout(loop_, kShutdownLimit, std::move(shutdown));
  if (!answer && answer.error().code == ErrorCode::Cancelled) co_return fail(answer.error());
  if (!pods_.contains(pod_uid)) co_return Result<void>{};
  co_return co_await end_shim(std::move(pod_uid));
}

Task<Result<void>> LinuxRuntime::remove_sandbox(std::string pod_uid) {
  if (!pods_.contains(pod_uid)) co_return Result<void>{};
  if (pods_.at(pod_uid).unknown) {
    CO_TRY(co_await end_unknown(pod_uid));
  } else {
    CO_TRY(co_await shut_down(pod_uid));
  }
  if (!pods_.contains(pod_uid)) co_return Result<void>{};
  CO_TRY(co_await off_loop([layers = options_.home + "/pods/" + pod_uid,
                            directory = pod_directory(pod_uid)]() -> Result<void> {
    TRY(linux::remove_tree(layers));
    return linux::remove_tree(directory);
  }));
  const auto known = pods_.find(pod_uid);
  if (known == pods_.end()) co_return Result<void>{};  // removed twice at once
  if (const auto& record = known->second.record; !record.spec.host_network)
    network_.release(record.address, record.link);
  const auto shm = known->second.record.shm_directory;
  const bool was_unknown = known->second.unknown;
  pods_.erase(known);
  if (was_unknown) co_return co_await sweep_shm();
  const auto retired = retire_shm(shm);
  if (retired.empty()) co_return Result<void>{};
  co_return co_await off_loop([retired] { return linux::remove_tree(retired); });
}

Task<void> LinuxRuntime::close() {
  [[maybe_unused]] const auto ended =
      co_await off_loop([nursery = std::exchange(nursery_, nullptr)]() mutable -> Result<void> {
        nursery.reset();
        return {};
      });
  if (pods_.empty()) {
    network_.tear_down();
    [[maybe_unused]] const auto removed =
        co_await off_loop([cgroups = cgroups_, key = home_key_]() -> Result<void> {
          linux::remove_shim_groups(key);
          linux::remove_cgroup_roots(cgroups);
          forget_own_network(key);
          ::rmdir(state_directory(key).c_str());
          return {};
        });
  }
  home_lock_.close();
  co_return;
}

}  // namespace muster::node
