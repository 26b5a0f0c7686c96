#include "trainer/scheduler.h"

#include <sys/random.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "trainer/line_reader.h"
#include "trainer/network.h"
#include "trainer/output.h"
#include "trainer/rendezvous.h"

namespace muster::trainer {
namespace {

// How long a connection may take to say who it is, and a worker that was let go to hang up.
constexpr auto kPatience = std::chrono::seconds(10);

// The sockets around a Rendezvous. Lives on one thread; run() ends it.
class Scheduler {
 public:
  Scheduler(Descriptor listener, std::uint64_t workers, std::uint64_t session)
      : listener_(std::move(listener)),
        // One connection for each worker, one for its successor, and a few for strangers.
        most_connections_(2 * workers + 16),
        rendezvous_(workers, session) {}

  Result<void> run() {
    // After the end a worker may still have to read that it came.
    while (!rendezvous_.is_finished() || !connections_.empty()) {
      TRY(wait());
      TRY(accept_all());
      serve_all();
    }
    return {};
  }

 private:
  using ConnectionId = Rendezvous::ConnectionId;

  struct Connection {
    Descriptor socket;
    LineReader lines{kMaxWorkerLine};
    std::string unsent;
    bool is_ending = false;  // nothing more will be said; what arrives is dropped
    std::optional<Clock::time_point> deadline;  // none while a registered worker trains
  };

  Result<void> wait() {
    std::vector<pollfd> waiting = {{.fd = listener_.number(), .events = POLLIN, .revents = 0}};
    auto deadline = Clock::now() + std::chrono::hours(1);
    for (const auto& [id, connection] : connections_) {
      const bool has_output = !connection.unsent.empty();
      waiting.push_back({.fd = connection.socket.number(),
                         .events = static_cast<short>(has_output ? POLLIN | POLLOUT : POLLIN),
                         .revents = 0});
      deadline = std::min(deadline, connection.deadline.value_or(deadline));
    }
    // Ready or not: what follows looks at every connection and every deadline.
    static_cast<void>(TRY(wait_for(waiting, deadline)));
    return {};
  }

  Result<void> accept_all() {
    while (auto socket = TRY(accept_from(listener_))) {
      if (connections_.size() >= most_connections_) {
        continue;  // closed again at once
      }
      Connection& connection = connections_[next_id_++];
      connection.socket = std::move(*socket);
      connection.deadline = Clock::now() + kPatience;
    }
    return {};
  }

  // Every socket is tried, not only those that poll() named: a handful of workers make the
  // difference too small to pay for in bookkeeping.
  void serve_all() {
    std::vector<ConnectionId> ids;
    ids.reserve(connections_.size());
    for (const auto& [id, connection] : connections_) {
      ids.push_back(id);
    }
    for (const ConnectionId id : ids) {
      const bool is_alive = receive(id) && send(id);
      const auto& deadline = connections_.at(id).deadline;
      if (!is_alive || (deadline && Clock::now() >= *deadline)) {
        connections_.erase(id);
        apply(rendezvous_.on_closed(id));
      }
    }
  }

  // False once the connection is over. One read a turn, so that a flood on one connection does not
  // keep the others waiting: poll() reports what is left.
  bool receive(ConnectionId id) {
    Connection& connection = connections_.at(id);
    std::array<char, 4'096> buffer;
    const Transfer transfer = receive_some(connection.socket, buffer);
    if (!connection.is_ending) {
      connection.lines.add(std::string_view(buffer.data(), transfer.bytes));
      handle_lines(id, connection);
    }
    return !transfer.closed;
  }

  void handle_lines(ConnectionId id, Connection& connection) {
    while (!connection.is_ending) {
      const std::optional<std::string> line = connection.lines.next();
      if (!line) {
        break;
      }
      handle_line(id, connection, *line);
    }
    if (connection.lines.is_overrun() && !connection.is_ending) {
      refuse(id, connection, "a line that is too long");
    }
  }

  void handle_line(ConnectionId id, Connection& connection, std::string_view line) {
    Result<WorkerMessage> message = parse_worker_message(line);
    if (!message) {
      refuse(id, connection, message.error().message);
    } else if (auto* registration = std::get_if<Registration>(&*message)) {
      connection.deadline.reset();
      apply(rendezvous_.on_registration(id, std::move(*registration)));
    } else {
      apply(rendezvous_.on_done(id, std::get<Done>(*message)));
    }
  }

  void refuse(ConnectionId id, Connection& connection, const std::string& reason) {
    say("scheduler: refused a connection: {}", reason);
    end(connection);
    apply(rendezvous_.on_closed(id));
  }

  void apply(const Rendezvous::Effects& effects) {
    for (const std::string& text : effects.notes) {
      say("scheduler: {}", text);
    }
    for (const Rendezvous::Outgoing& outgoing : effects.send) {
      const auto found = connections_.find(outgoing.to);
      if (found == connections_.end()) {
        continue;
      }
      if (!outgoing.line.empty()) {
        found->second.unsent += outgoing.line + "\n";
      }
      if (outgoing.is_last) {
        end(found->second);
      }
      send(outgoing.to);
    }
  }

  // Says nothing more, but leaves the closing to the other side: closing a socket on which data is
  // still arriving resets the connection, and a reset can overtake the last words that tell a
  // worker why it was let go.
  static void end(Connection& connection) {
    connection.is_ending = true;
    connection.deadline = Clock::now() + kPatience;
  }

  // False once the connection is over.
  bool send(ConnectionId id) {
    Connection& connection = connections_.at(id);
    if (!connection.unsent.empty()) {
      const Transfer transfer = send_some(connection.socket, connection.unsent);
      connection.unsent.erase(0, transfer.bytes);
      if (transfer.closed) {
        return false;
      }
    }
    if (connection.is_ending && connection.unsent.empty()) {
      ::shutdown(connection.socket.number(), SHUT_WR);
    }
    return true;
  }

  Descriptor listener_;
  const std::size_t most_connections_;
  Rendezvous rendezvous_;
  std::map<ConnectionId, Connection> connections_;
  ConnectionId next_id_ = 1;
};

Result<std::uint64_t> random_session() {
  std::uint64_t session = 0;
  if (::getrandom(&session, sizeof session, 0) != static_cast<ssize_t>(sizeof session)) {
    return failure("cannot get random bytes from the kernel");
  }
  return session;
}

}  // namespace

Result<void> run_scheduler(const SchedulerOptions& options) {
  const std::uint64_t session = TRY(random_session());
  Descriptor listener = TRY(listen_on(options.port));
  const Endpoint endpoint = TRY(local_endpoint(listener));
  say("scheduler: listening on {} for {} workers", to_string(endpoint), options.workers);
  return Scheduler(std::move(listener), options.workers, session).run();
}

}  // namespace muster::trainer
