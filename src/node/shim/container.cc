#include "node/shim/container.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "node/linux/files.h"
#include "node/linux/process.h"
#include "node/shim/child.h"
#include "node/shim/records.h"

namespace muster::node::shim {

namespace {

struct Pipe {
  Fd read;
  Fd write;
};

Result<Pipe> make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return fail_errno("pipe");
  return Pipe{.read = Fd(ends[0]), .write = Fd(ends[1])};
}

void set_nonblocking(const Fd& fd) {
  ::fcntl(fd.get(), F_SETFL, O_NONBLOCK);
}

constexpr std::size_t kMaxTerminationMessage = 4096;
// Most programs write a line in one go, or its end right after it: what waits longer than this is
// meant to be seen as it is. Ten records a second for a bar that moves all the time.
constexpr auto kUnfinishedAfter = std::chrono::milliseconds(100);
// The node looks at its disk every second, and evicts in less.
constexpr auto kRoomComesWithin = std::chrono::seconds(5);

// Known to be begun even after the machine lost its power: nothing of it runs a second time.
Result<std::string> make_layers(const SandboxRecord& pod, const ContainerId& id) {
  auto layers = layers_directory(pod, id);
  TRY(linux::remove_tree(layers));  // of a start that came to nothing
  TRY(linux::make_directories(layers, 0711));
  TRY(linux::sync_directory(layers.substr(0, layers.rfind('/'))));
  return layers;
}

linux::Cgroup group_of(const SandboxRecord& pod, const ContainerId& id) {
  return {pod.cgroups, pod.spec.pod_uid + "/" + id.name + "-" + std::to_string(id.attempt)};
}

// Its own, or all of them.
std::vector<ShownCgroup> shown_cgroups(const ContainerSpec& spec, const linux::Cgroup& cgroup) {
  constexpr const char* kPlace = "/sys/fs/cgroup";
  if (spec.privileged) {
    if (!linux::exists(kPlace)) return {};
    return {{.directory = kPlace, .target = kPlace}};
  }
  std::vector<ShownCgroup> shown;
  for (const auto& [name, directory] : cgroup.directories()) {
    shown.push_back({.directory = directory,
                     .target = name.empty() ? kPlace : std::string(kPlace) + "/" + name});
  }
  return shown;
}

Result<RootSpec> root_for(const ContainerSpec& spec, const SandboxRecord& pod,
                          const std::string& pod_directory, const linux::Cgroup& cgroup) {
  const ContainerId id{spec.name, spec.attempt};
  RootSpec root{.directory = TRY(make_layers(pod, id)),
                .places_directory = container_directory(pod_directory, id) + "/places",
                .root = spec.root,
                .mounts = spec.mounts,
                .hosts_file = pod.spec.hosts_file,
                .resolver_file = pod.spec.host_network ? "" : pod_directory + "/resolv.conf",
                .shm_directory = pod.shm_directory,
                .hidden = pod.hidden,
                .working_directory = spec.cwd.empty() ? "/" : spec.cwd,
                .cgroups = shown_cgroups(spec, cgroup),
                .devices = spec.devices,
                .privileged = spec.privileged,
                .unmasked_proc = spec.unmasked_proc,
                .read_only = spec.read_only_root};
  if (!spec.termination_message_path.empty()) {
    root.termination_file = root.directory + "/termination-log";
    root.termination_path = spec.termination_message_path;
    TRY(ensure_file(root.termination_file));
    // Whoever the program runs as must be able to write it.
    ::chmod(root.termination_file.c_str(), 0666);
  }
  return root;
}

}  // namespace

Result<std::unique_ptr<Container>> Container::launch(ContainerSpec spec, const Pod& in,
                                                     const std::string& pod_directory) {
  const auto& pod = in.record();
  const ContainerId id{spec.name, spec.attempt};
  const auto directory = container_directory(pod_directory, id);
  const auto log_path = container_log(pod.log_directory, id);
  TRY(linux::remove_tree(directory));  // of a start that came to nothing
  TRY(linux::make_directories(directory, 0711));
  TRY(linux::replace_file(directory + "/intent", encode(without_values(spec))));
  // That of the attempt before stayed: to remove it takes a while, and mostly it goes with the pod.
  if (id.attempt > 0) group_of(pod, {id.name, id.attempt - 1}).remove();
  auto cgroup = group_of(pod, id);
  const auto root = TRY(root_for(spec, pod, pod_directory, cgroup));
  TRY(cgroup.create(spec.limits, linux::Cgroup::Holds::Processes));
  auto log = TRY(CriWriter::create(log_path, pod.log_quota));
  auto status = TRY(make_pipe());
  auto release = TRY(make_pipe());
  auto output = TRY(make_pipe());
  auto error = TRY(make_pipe());
  std::unique_ptr<Container> container(
      new Container(std::move(spec), directory, log_path, std::move(cgroup), std::move(log)));
  const int pid = ::fork();
  if (pid < 0) return fail_errno("fork");
  if (pid == 0) {
    release.write.close();  // or we would wait for ourselves
    run_container({.spec = container->spec_,
                   .root = root,
                   .empty = in.empty(),
                   .cgroup = container->cgroup_,
                   .standard_output = output.write.get(),
                   .standard_error = error.write.get(),
                   .status = status.write.get(),
                   .release = release.read.get()});
  }
  container->pid_ = pid;
  container->termination_file_ = root.termination_file;
  container->status_ = std::move(status.read);
  container->release_ = std::move(release.write);
  container->output_[0] = std::move(output.read);
  container->output_[1] = std::move(error.read);
  set_nonblocking(container->status_);
  for (const auto& fd : container->output_) set_nonblocking(fd);
  return container;
}

ContainerStart Container::start() const {
  return {.pid = pid_, .started = started_, .log_path = log_path_};
}

int Container::output_descriptor(CriWriter::Stream stream) const {
  return output_[static_cast<std::size_t>(stream)].get();
}

void Container::on_status() {
  char chunk[4096];
  const auto got = ::read(status_.get(), chunk, sizeof chunk);
  if (got < 0) return;
  if (got > 0) {
    const bool first = status_bytes_.empty();
    status_bytes_.append(chunk, static_cast<std::size_t>(got));
    if (first && status_bytes_.front() == kReady && state_ == State::Building) release();
    return;
  }
  status_.close();
  std::string_view bytes = status_bytes_;
  if (bytes.starts_with(kReady)) bytes.remove_prefix(1);
  if (bytes.starts_with(kFailed)) {
    auto failure = decode<FailureRecord>(bytes.substr(1));
    fail_start(failure ? std::move(*failure) : FailureRecord{.message = failure.error().message});
  } else if (state_ == State::Starting) {
    state_ = reaped_ ? State::Ending : State::Running;
  } else if (state_ == State::Building) {
    fail_start({.failure = StartFailure::Configuration, .message = "killed before it was started"});
  }
}

void Container::release() {
  if (!cgroup_.exists()) mounts_ = linux::mounts_of(pid_);
  started_ = linux::now();
  const StartRecord record{.process = linux::identity_of(pid_), .started = started_};
  if (const auto written = linux::replace_file(directory_ + "/started", encode(record)); !written) {
    // Not released, so it was never executed.
    fail_start({.failure = StartFailure::Configuration, .message = written.error().message});
    return;
  }
  state_ = State::Starting;
  const char go = 1;
  [[maybe_unused]] const auto sent = ::write(release_.get(), &go, 1);
  release_.close();
}

void Container::fail_start(FailureRecord failure) {
  failure_ = std::move(failure);
  // What could not be executed stays on record; what could not be prepared may be tried again.
  if (failure_.failure == StartFailure::Configuration) {
    ::unlink((directory_ + "/started").c_str());
  } else {
    [[maybe_unused]] const auto kept =
        linux::replace_file(directory_ + "/failed", encode(failure_));
  }
  state_ = State::Failed;
  status_.close();
  release_.close();
  for (auto& fd : output_) fd.close();
  if (!reaped_) ::kill(pid_, SIGKILL);
}

void Container::on_output(CriWriter::Stream stream) {
  auto& fd = output_[static_cast<std::size_t>(stream)];
  char chunk[65536];
  const auto got = ::read(fd.get(), chunk, sizeof chunk);
  if (got > 0) {
    log(stream, {chunk, static_cast<std::size_t>(got)});
  } else if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
    fd.close();
  }
}

void Container::log(CriWriter::Stream stream, std::string_view bytes) {
  log_.append(stream, bytes, linux::now());
  if (!log_.holds_back()) {
    unfinished_since_.reset();
  } else if (!unfinished_since_) {
    unfinished_since_ = std::chrono::steady_clock::now();
  }
}

std::optional<std::chrono::steady_clock::time_point> Container::unfinished_due() const {
  if (!unfinished_since_) return std::nullopt;
  return *unfinished_since_ + kUnfinishedAfter;
}

void Container::write_unfinished() {
  if (!unfinished_since_ || *unfinished_due() > std::chrono::steady_clock::now()) return;
  log_.flush(linux::now());
  unfinished_since_.reset();
  // The disk is full: tried again after the same while.
  if (log_.holds_back()) unfinished_since_ = std::chrono::steady_clock::now();
}

void Container::drain() {
  for (const auto stream : {CriWriter::Stream::Stdout, CriWriter::Stream::Stderr}) {
    auto& fd = output_[static_cast<std::size_t>(stream)];
    char chunk[65536];
    while (fd.valid()) {
      const auto got = ::read(fd.get(), chunk, sizeof chunk);
      if (got <= 0) break;
      log(stream, {chunk, static_cast<std::size_t>(got)});
    }
    fd.close();
  }
  log_.flush(linux::now());
  unfinished_since_.reset();
}

void Container::on_exit(int wait_status) {
  reaped_ = true;
  exit_.finished = linux::now();
  exit_.signal = WIFSIGNALED(wait_status) ? WTERMSIG(wait_status) : 0;
  exit_.exit_code = WIFSIGNALED(wait_status) ? 128 + exit_.signal : WEXITSTATUS(wait_status);
  // The status pipe still tells whether it was executed at all.
  if (state_ == State::Building || state_ == State::Starting) {
    while (status_.valid()) {
      const auto size = status_bytes_.size();
      on_status();
      if (status_.valid() && status_bytes_.size() == size) break;
    }
    if (state_ != State::Failed) return;
  }
  if (state_ == State::Failed) {
    cgroup_.remove();
    return;
  }
  state_ = State::Ending;
}

void Container::try_end(Room room) {
  if (state_ != State::Ending || !kill_all()) return;
  drain();
  if (log_.holds_back()) {
    const auto now = std::chrono::steady_clock::now();
    if (!waits_for_room_since_) waits_for_room_since_ = now;
    if (room == Room::Awaited && now < *waits_for_room_since_ + kRoomComesWithin) return;
  }
  exit_.started = started_;
  exit_.oom_killed = exit_.exit_code != 0 && cgroup_.out_of_memory_kills() > 0;
  exit_.termination_message = termination_message();
  // Told only once it is on the disk; a disk that does not take it is tried again.
  if (!linux::replace_file(directory_ + "/exit", encode(exit_))) return;
  mounts_.close();
  state_ = State::Ended;
}

bool Container::kill_all() {
  return cgroup_.exists() ? cgroup_.kill() : linux::kill_all_in(mounts_);
}

void Container::kill() {
  if (over()) return;
  [[maybe_unused]] const bool empty = kill_all();
  if (!reaped_) ::kill(pid_, SIGKILL);
}

std::string Container::termination_message() const {
  if (termination_file_.empty()) return {};
  return linux::read_file(termination_file_, kMaxTerminationMessage).value_or("");
}

}  // namespace muster::node::shim
