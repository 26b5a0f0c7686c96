#include "node/shim/session/session.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/strings.h"
#include "node/shim/child.h"
#include "node/shim/protocol.h"
#include "node/shim/session/terminal.h"

namespace muster::node::shim {

namespace {

constexpr std::size_t kMaxPending = std::size_t{64} << 10U;
// What the program's children, which outlive it and hold its output, can still say at its end.
constexpr std::size_t kMaxLastWords = std::size_t{1} << 20U;
// Shells and editors save their work when they are hung up.
constexpr auto kHangUpGrace = std::chrono::seconds(2);

struct Pair {
  Fd ours;
  Fd childs;
};

Result<Pair> make_pipe(bool we_write) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return fail_errno("pipe");
  Pair pair{.ours = Fd(ends[we_write ? 1 : 0]), .childs = Fd(ends[we_write ? 0 : 1])};
  ::fcntl(pair.ours.get(), F_SETFL, O_NONBLOCK);
  return pair;
}

Result<Pair> make_sockets() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
    return fail_errno("socketpair");
  ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
  return Pair{.ours = Fd(ends[0]), .childs = Fd(ends[1])};
}

SessionFrame frame_of(std::size_t stream) {
  return stream == 0 ? SessionFrame::Output : SessionFrame::ErrorOutput;
}

}  // namespace

Result<std::unique_ptr<Session>> Session::launch(const Container& container,
                                                 const SessionSpec& spec) {
  const Fd process(static_cast<int>(::syscall(SYS_pidfd_open, container.pid(), 0U)));
  if (!process.valid())
    return fail(ErrorCode::NotFound, "container " + spec.container + " has ended");
  Pair coming;
  Pair input;
  std::array<Pair, 2> output;
  if (spec.terminal) {
    coming = TRY(make_sockets());
  } else {
    if (spec.input) input = TRY(make_pipe(true));
    if (spec.output) output[0] = TRY(make_pipe(false));
    if (spec.error) output[1] = TRY(make_pipe(false));
  }
  const int pid = ::fork();
  if (pid < 0) return fail_errno("fork");
  if (pid == 0) {
    run_exec({.spec = container.spec(),
              .argv = spec.argv,
              .cgroup = container.cgroup(),
              .container = process.get(),
              .input = input.childs.get(),
              .output = output[0].childs.get(),
              .error = output[1].childs.get(),
              .terminal = coming.childs.get()});
  }
  std::unique_ptr<Session> session(new Session(spec.terminal));
  session->pid_ = pid;
  session->coming_ = std::move(coming.ours);
  session->input_ = std::move(input.ours);
  session->output_[0] = std::move(output[0].ours);
  session->output_[1] = std::move(output[1].ours);
  return session;
}

std::vector<Session::Interest> Session::interests(bool room_for_output) const {
  std::vector<Interest> wanted;
  if (coming_.valid()) wanted.push_back({.fd = coming_.get(), .events = POLLIN});
  if (input_.valid() && !pending_.empty())
    wanted.push_back({.fd = input_.get(), .events = POLLOUT});
  for (std::size_t stream = 0; stream < output_.size(); ++stream) {
    if (!output_[stream].valid()) continue;
    short events = room_for_output ? POLLIN : 0;
    if (terminal_ && !pending_.empty()) events = static_cast<short>(events | POLLOUT);
    if (events != 0) wanted.push_back({.fd = output_[stream].get(), .events = events});
  }
  return wanted;
}

void Session::on_event(int fd) {
  if (fd == coming_.get()) receive_terminal();
  if (fd == input_.get()) push_input();
  if (fd == output_[0].get()) {
    if (terminal_) push_input();
    read_output(0);
  }
  if (fd == output_[1].get()) read_output(1);
}

void Session::receive_terminal() {
  auto received = receive_descriptor(coming_.get());
  if (received.descriptor.valid()) {
    ::fcntl(received.descriptor.get(), F_SETFL, O_NONBLOCK);
    output_[0] = std::move(received.descriptor);
    resize();
    push_input();
  } else if (!received.text.empty()) {
    frames_ += session_frame(SessionFrame::ErrorOutput, received.text);
  } else {
    coming_.close();
  }
}

void Session::resize() {
  if (!size_ || !output_[0].valid() || !terminal_) return;
  set_window_size(output_[0], size_->first, size_->second);
  // Lets the program start. Closed it would not: until then our child has this end as well.
  if (coming_.valid()) ::shutdown(coming_.get(), SHUT_WR);
}

void Session::push_input() {
  Fd& into = terminal_ ? output_[0] : input_;
  if (terminal_ && !into.valid()) return;  // it will come
  if (input_ended_ && terminal_ && into.valid()) {
    pending_ += end_of_lines(into);
    input_ended_ = false;
  }
  while (into.valid() && !pending_.empty()) {
    const auto written = ::write(into.get(), pending_.data(), pending_.size());
    if (written > 0) {
      pending_.erase(0, static_cast<std::size_t>(written));
    } else if (errno == EAGAIN) {
      return;
    } else if (errno != EINTR) {
      pending_.clear();  // nobody will read it
      if (!terminal_) into.close();
    }
  }
  if (!into.valid()) pending_.clear();
  if (!terminal_ && input_ended_) into.close();
}

bool Session::has_room() const {
  return pending_.size() < kMaxPending;
}

bool Session::on_frame(std::string_view payload) {
  if (payload.empty()) return false;
  Reader in(payload.substr(1));
  switch (static_cast<SessionFrame>(payload.front())) {
    case SessionFrame::Input:
      if (terminal_ || input_.valid()) pending_ += payload.substr(1);
      push_input();
      return true;
    case SessionFrame::EndInput:
      input_ended_ = true;
      push_input();
      return true;
    case SessionFrame::Resize: {
      const auto columns = static_cast<int>(in.number());
      const auto rows = static_cast<int>(in.number());
      if (!in.finished()) return false;
      size_ = {columns, rows};
      resize();
      return true;
    }
    case SessionFrame::Output:
    case SessionFrame::ErrorOutput:
    case SessionFrame::Exit:
      return false;
  }
  return false;
}

bool Session::read_output(std::size_t stream) {
  char chunk[32768];
  const auto got = ::read(output_[stream].get(), chunk, sizeof chunk);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return false;
  if (got <= 0) {
    output_[stream].close();  // of a terminal: nobody has it open any more
    return false;
  }
  frames_ += session_frame(frame_of(stream), {chunk, static_cast<std::size_t>(got)});
  return true;
}

void Session::on_exit(int wait_status) {
  over_ = true;
  if (kill_at_) return;  // nobody is told
  if (coming_.valid()) receive_terminal();
  for (std::size_t stream = 0; stream < output_.size(); ++stream) {
    const std::size_t before = frames_.size();
    while (output_[stream].valid() && frames_.size() - before < kMaxLastWords) {
      if (!read_output(stream)) break;
    }
  }
  const int code =
      WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
  frames_ += session_frame(SessionFrame::Exit, Writer().number(code).bytes());
}

void Session::hang_up() {
  kill_at_ = std::chrono::steady_clock::now() + kHangUpGrace;
  coming_.close();
  input_.close();
  for (auto& fd : output_) fd.close();  // the kernel hangs up a terminal with that
  pending_.clear();
  frames_.clear();
  if (!over_) ::kill(-pid_, SIGHUP);
}

// Whoever left the session by setsid() meant to outlive it.
void Session::kill_rest() {
  kill_at_ = std::chrono::steady_clock::now() + kHangUpGrace;  // to be looked at again
  DIR* all = ::opendir("/proc");
  if (all == nullptr) return;
  while (const dirent* entry = ::readdir(all)) {  // NOLINT(concurrency-mt-unsafe): no threads here
    const auto pid = parse_int(entry->d_name);
    if (pid && *pid > 1 && ::getsid(static_cast<pid_t>(*pid)) == pid_)
      ::kill(static_cast<pid_t>(*pid), SIGKILL);
  }
  ::closedir(all);
}

}  // namespace muster::node::shim
