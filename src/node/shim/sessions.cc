#include <poll.h>

#include <algorithm>

#include "node/shim/server.h"

// Sessions: programs whose streams a client holds over its connection.
namespace muster::node::shim {

namespace {

constexpr std::size_t kMaxSessions =
    64;  // of a pod: a person has a few, a runaway script thousands
constexpr std::size_t kMaxUnread = std::size_t{256} << 10U;  // output that a client has not fetched

}  // namespace

void Server::open_session(ClientId id, Reader& in) {
  SessionSpec spec;
  read(in, spec);
  if (!in.finished() || spec.argv.empty())
    return answer_error(id, ErrorCode::Invalid, "a session needs a command");
  const Container* container = find_running(spec.container);
  if (container == nullptr)
    return answer_error(id, ErrorCode::NotFound, "container " + spec.container + " is not running");
  if (sessions_.size() + hung_up_.size() >= kMaxSessions) {
    return answer_error(
        id, ErrorCode::TooManyRequests,
        "the pod has " + std::to_string(kMaxSessions) + " sessions open; end one of them");
  }
  auto session = Session::launch(*container, spec);
  if (!session) return answer(id, shim::answer_error(session.error()));
  answer_result(id, {});
  sessions_.emplace(id, std::move(*session));
}

void Server::poll_sessions(
    const std::function<void(int, short, std::function<void(short)>)>& watch) {
  for (const auto& [id, session] : sessions_) {
    const bool room = clients_.at(id).out.size() < kMaxUnread;
    for (const auto& interest : session->interests(room)) {
      watch(interest.fd, interest.events, [this, key = id, fd = interest.fd](short) {
        const auto found = sessions_.find(key);
        if (found == sessions_.end()) return;
        found->second->on_event(fd);
        forward_output(key);
      });
    }
  }
}

void Server::on_session_bytes(ClientId id) {
  auto& client = clients_.at(id);
  while (true) {
    auto payload = take_frame(client.in);
    if (payload && !*payload) return;
    if (payload && sessions_.at(id)->on_frame(**payload)) continue;
    hang_up(id);  // not a client of ours
    clients_.erase(id);
    return;
  }
}

void Server::forward_output(ClientId id) {
  auto& client = clients_.at(id);
  client.out += sessions_.at(id)->take_frames();
  flush(client);
}

void Server::hang_up(ClientId id) {
  const auto found = sessions_.find(id);
  if (found == sessions_.end()) return;
  found->second->hang_up();
  hung_up_.push_back(std::move(found->second));
  sessions_.erase(found);
}

bool Server::reap_session(int pid, int status) {
  for (auto it = sessions_.begin(); it != sessions_.end(); ++it) {
    if (it->second->pid() != pid) continue;
    const ClientId id = it->first;
    it->second->on_exit(status);
    forward_output(id);
    sessions_.erase(it);
    // What is left to be fetched goes out first.
    if (clients_.at(id).out.empty()) clients_.erase(id);
    return true;
  }
  for (auto it = hung_up_.begin(); it != hung_up_.end(); ++it) {
    if ((*it)->pid() != pid) continue;
    (*it)->kill_rest();
    hung_up_.erase(it);
    return true;
  }
  return false;
}

void Server::kill_hung_up() {
  const auto now = std::chrono::steady_clock::now();
  for (const auto& session : hung_up_) {
    if (*session->kill_at() <= now) session->kill_rest();
  }
}

}  // namespace muster::node::shim
