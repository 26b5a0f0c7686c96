#include "node/shim/server.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <functional>

#include "node/linux/files.h"

// The loop; what requests mean is in requests.cc.
namespace muster::node::shim {

namespace {

// Muster has one connection for each call in flight.
constexpr std::size_t kMaxClients = 1024;
constexpr std::size_t kExecTailBytes = std::size_t{10} << 10U;
// How soon we look again for what a container left behind, while there is something.
constexpr int kEndingTickMilliseconds = 2;
// And for room on the disk.
constexpr int kRoomTickMilliseconds = 50;

}  // namespace

void Server::run() {
  while (!done_) poll_once();
}

int Server::timeout() const {
  int least = -1;
  const auto at_most = [&least](std::int64_t milliseconds) {
    const int limit = static_cast<int>(std::clamp<std::int64_t>(milliseconds, 0, 60'000));
    least = least < 0 ? limit : std::min(least, limit);
  };
  const auto now = std::chrono::steady_clock::now();
  for (const auto& [id, container] : containers_) {
    if (container->state() == Container::State::Ending)
      at_most(container->waits_for_room() ? kRoomTickMilliseconds : kEndingTickMilliseconds);
    if (const auto due = container->unfinished_due())
      at_most(std::chrono::ceil<std::chrono::milliseconds>(*due - now).count());
  }
  for (const auto& job : execs_) {
    if (job.timed_out) continue;
    at_most(std::chrono::ceil<std::chrono::milliseconds>(job.deadline - now).count());
  }
  for (const auto& session : hung_up_) {
    at_most(std::chrono::ceil<std::chrono::milliseconds>(*session->kill_at() - now).count());
  }
  return least;
}

void Server::poll_once() {
  std::vector<pollfd> fds;
  std::vector<std::move_only_function<void(short)>> actions;
  const auto watch = [&](int fd, short events, auto action) {
    if (fd < 0) return;
    fds.push_back({.fd = fd, .events = events, .revents = 0});
    actions.emplace_back(std::move(action));
  };
  watch(signals_.get(), POLLIN, [this](short) { reap(); });
  watch(listener_.get(), POLLIN, [this](short) { accept_clients(); });
  for (const auto& [id, client] : clients_) {
    const auto session = sessions_.find(id);
    const bool reads = session == sessions_.end() || session->second->has_room();
    const auto events =
        static_cast<short>((reads ? POLLIN : 0) | (client.out.empty() ? 0 : POLLOUT));
    watch(client.fd.get(), events, [this, key = id](short got) { serve(key, got); });
  }
  for (const auto& [id, entry] : containers_) {
    Container* container = entry.get();
    watch(container->status_descriptor(), POLLIN, [container](short) { container->on_status(); });
    for (const auto stream : {CriWriter::Stream::Stdout, CriWriter::Stream::Stderr}) {
      watch(container->output_descriptor(stream), POLLIN,
            [container, stream](short) { container->on_output(stream); });
    }
  }
  for (auto& job : execs_) {
    watch(job.output.get(), POLLIN, [this, pid = job.pid](short) {
      for (auto& found : execs_) {
        if (found.pid == pid) read_exec(found);
      }
    });
  }
  poll_sessions(watch);
  if (::poll(fds.data(), fds.size(), timeout()) < 0 && errno != EINTR) return;
  for (std::size_t i = 0; i < fds.size(); ++i) {
    if (fds[i].revents != 0) actions[i](fds[i].revents);
  }
  for (const auto& [id, container] : containers_) container->write_unfinished();
  end_late_execs();
  kill_hung_up();
  settle();
}

void Server::accept_clients() {
  while (true) {
    Fd fd(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!fd.valid()) return;
    if (clients_.size() >= kMaxClients) continue;  // closed at once: the caller tries again
    clients_.emplace(++last_client_, Client{.fd = std::move(fd)});
    serve(last_client_, POLLIN);  // mostly it has asked already
  }
}

void Server::serve(ClientId id, short events) {
  const auto found = clients_.find(id);
  if (found == clients_.end()) return;
  auto& client = found->second;
  if ((events & POLLOUT) != 0) {
    flush(client);
    if (client.out.empty() && client.asked && !sessions_.contains(id)) {
      clients_.erase(found);
      return;
    }
  }
  if ((events & (POLLIN | POLLHUP | POLLERR)) == 0) return;
  char chunk[65536];
  const auto got = ::recv(client.fd.get(), chunk, sizeof chunk, 0);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got <= 0) {
    hang_up(id);
    clients_.erase(found);  // it no longer wants to know
    return;
  }
  client.in.append(chunk, static_cast<std::size_t>(got));
  if (sessions_.contains(id)) return on_session_bytes(id);
  auto request = take_frame(client.in);
  if (!request) {
    clients_.erase(found);
  } else if (*request && !client.asked) {
    client.asked = true;
    handle(id, **request);
    if (sessions_.contains(id)) on_session_bytes(id);  // input may come with the request
  }
}

void Server::flush(Client& client) {
  while (!client.out.empty()) {
    const auto sent = ::send(client.fd.get(), client.out.data(), client.out.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && errno == EAGAIN) return;
    if (sent <= 0) {
      client.out.clear();
      return;
    }
    client.out.erase(0, static_cast<std::size_t>(sent));
  }
}

void Server::answer(ClientId id, const std::string& payload) {
  const auto found = clients_.find(id);
  if (found == clients_.end()) return;
  found->second.out += frame(with_version(payload, found->second.version));
  flush(found->second);
}

void Server::reap() {
  signalfd_siginfo info{};
  while (::read(signals_.get(), &info, sizeof info) > 0) {
  }
  int status = 0;
  while (true) {
    const int pid = ::waitpid(-1, &status, WNOHANG);
    if (pid <= 0) return;
    if (pid == pod_.init()) pod_.on_init_exit();
    for (auto& [id, container] : containers_) {
      if (container->pid() == pid) container->on_exit(status);
    }
    if (reap_session(pid, status)) continue;
    const auto job = std::ranges::find(execs_, pid, &ExecJob::pid);
    if (job == execs_.end()) continue;
    while (job->output.valid()) {
      const auto before = job->tail.size();
      read_exec(*job);
      if (job->tail.size() == before) break;
    }
    const int code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    Writer out;
    out.number(0);
    write(out, ExecResult{.exit_code = code, .timed_out = job->timed_out, .output = job->tail});
    answer(job->client, out.bytes());
    execs_.erase(job);
  }
}

void Server::read_exec(ExecJob& job) {
  char chunk[16384];
  const auto got = ::read(job.output.get(), chunk, sizeof chunk);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got <= 0) {
    job.output.close();
    return;
  }
  job.tail.append(chunk, static_cast<std::size_t>(got));
  if (job.tail.size() > kExecTailBytes) job.tail.erase(0, job.tail.size() - kExecTailBytes);
}

void Server::end_late_execs() {
  const auto now = std::chrono::steady_clock::now();
  for (auto& job : execs_) {
    if (job.timed_out || job.deadline > now) continue;
    job.timed_out = true;
    ::kill(-job.pid, SIGKILL);
    ::kill(job.pid, SIGKILL);
  }
}

// Tells everyone who waits for something that has come about.
void Server::settle() {
  bool running = false;
  // Who ends the pod wants the room that it has.
  const auto room = pod_.alive() ? Container::Room::Awaited : Container::Room::NotAwaited;
  for (auto it = containers_.begin(); it != containers_.end();) {
    auto& container = *it->second;
    container.try_end(room);
    using State = Container::State;
    // Of one that failed only when nothing of it is left: who is told may try it again at once.
    const bool tried = container.state() != State::Building && container.state() != State::Starting;
    if (tried && (container.state() != State::Failed || container.gone())) {
      for (const auto id : std::exchange(container.start_waiters, {})) {
        if (container.state() == State::Failed) {
          answer_failed(id, container.failure());
        } else {
          answer_start(id, container.id(), container.start());
        }
      }
    }
    if (container.over()) {
      for (const auto id : std::exchange(container.exit_waiters, {}))
        answer_from_record(id, container.id());
    }
    running = running || !container.gone();
    // From here on its records speak for it.
    it = container.gone() ? containers_.erase(it) : std::next(it);
  }
  // Without its first process a pod can start nothing any more, asked for or not: whoever wants it
  // again begins with a new shim.
  if (running || pod_.alive()) return;
  pod_.tear_down();
  if (shutdown_for_ != 0) answer_result(shutdown_for_, {});
  done_ = true;
}

}  // namespace muster::node::shim
