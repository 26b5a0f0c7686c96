#include "trainer/scheduler_link.h"

#include <algorithm>
#include <array>
#include <thread>
#include <utility>
#include <vector>

#include "trainer/output.h"

namespace muster::trainer {
namespace {

constexpr auto kFirstPause = std::chrono::milliseconds(50);
constexpr auto kLongestPause = std::chrono::milliseconds(1'000);
// A lost SYN is sent again after one second; two allow for one such loss before we begin anew.
constexpr auto kConnectPatience = std::chrono::seconds(2);

pollfd readable(const Descriptor& socket) {
  return {.fd = socket.number(), .events = POLLIN, .revents = 0};
}

// What kept an attempt from succeeding; the next one may.
struct Obstacle {
  std::string reason;
};
using Attempt = std::variant<Joined, AlreadyFinished, Obstacle>;

Result<Attempt> try_once(JoinRequest& request, Clock::time_point deadline) {
  auto socket =
      connect_to(request.host, request.port, std::min(deadline, Clock::now() + kConnectPatience));
  if (!socket) {
    return Obstacle{socket.error().message};
  }
  SchedulerLink link(std::move(*socket));
  // Even towards a service address the packets leave by our own interface, so its address is where
  // peers find us.
  request.registration.endpoint.address = TRY(local_endpoint(link.socket())).address;
  if (const auto sent = link.send(encode(request.registration)); !sent) {
    return Obstacle{sent.error().message};
  }
  auto message = TRY(link.answer(deadline));
  if (!message) {
    return Obstacle{link.is_connected() ? "not all workers registered" : "the scheduler hung up"};
  }
  if (auto* start = std::get_if<Start>(&*message)) {
    return Joined{std::move(link), std::move(*start)};
  }
  if (const auto* rejected = std::get_if<Rejected>(&*message)) {
    return usage_error("the scheduler refused this worker: " + rejected->reason);
  }
  if (std::holds_alternative<Finished>(*message)) {
    return AlreadyFinished{};
  }
  return Obstacle{"another worker was lost"};
}

}  // namespace

Result<void> SchedulerLink::send(const std::string& line) {
  // Our lines are far smaller than a fresh socket's buffer, so one attempt takes all of it or the
  // connection is over.
  const std::string bytes = line + "\n";
  const Transfer transfer = send_some(socket_, bytes);
  if (transfer.bytes != bytes.size()) {
    socket_.reset();
    return failure("the scheduler hung up: " + transfer.closed.value_or("its buffer is full"));
  }
  return {};
}

Result<std::optional<SchedulerMessage>> SchedulerLink::answer(Clock::time_point deadline) {
  while (is_connected()) {
    if (const auto line = lines_.next()) {
      return TRY(parse_scheduler_message(*line));
    }
    if (lines_.is_overrun()) {
      return failure("the scheduler sent a line that is too long");
    }
    std::array<pollfd, 1> waiting = {readable(socket_)};
    if (!TRY(wait_for(waiting, deadline))) {
      break;
    }
    receive();
  }
  return std::nullopt;
}

Result<bool> SchedulerLink::wait(std::span<const pollfd> descriptors, Clock::time_point deadline) {
  std::vector<pollfd> waiting(descriptors.begin(), descriptors.end());
  waiting.push_back(readable(socket_));
  while (TRY(wait_for(waiting, deadline))) {
    if (waiting.back().revents != 0) {
      receive();
      TRY(handle_news());
      waiting.back() = readable(socket_);
    }
    const auto others = std::span(waiting).first(descriptors.size());
    if (std::ranges::any_of(others, [](const pollfd& other) { return other.revents != 0; })) {
      return true;
    }
  }
  return false;
}

Result<void> SchedulerLink::finish(std::uint64_t generation, Clock::time_point deadline) {
  if (is_connected() && !send(encode(Done{generation}))) {
    note("the scheduler is gone; ending without it");
  }
  while (is_connected() && !is_finished_) {
    std::array<pollfd, 1> waiting = {readable(socket_)};
    if (!TRY(wait_for(waiting, deadline))) {
      note("the scheduler did not say that all workers are done; ending without it");
      break;
    }
    receive();
    TRY(handle_news());
  }
  return {};
}

std::optional<std::string> SchedulerLink::lost_peer(Clock::time_point deadline) {
  while (!lost_ && is_connected()) {
    std::array<pollfd, 1> waiting = {readable(socket_)};
    const Result<bool> ready = wait_for(waiting, deadline);
    if (!ready || !*ready) {
      break;
    }
    receive();
    if (!handle_news()) {
      break;
    }
  }
  return lost_;
}

void SchedulerLink::receive() {
  std::array<char, 4'096> buffer;
  const Transfer transfer = receive_some(socket_, buffer);
  lines_.add(std::string_view(buffer.data(), transfer.bytes));
  if (transfer.closed) {
    socket_.reset();
  }
}

Result<void> SchedulerLink::handle_news() {
  while (const auto line = lines_.next()) {
    const SchedulerMessage message = TRY(parse_scheduler_message(*line));
    if (const auto* lost = std::get_if<Lost>(&message)) {
      lost_ = lost->node_id;
      return peer_lost(lost->node_id);
    }
    is_finished_ = is_finished_ || std::holds_alternative<Finished>(message);
  }
  if (lines_.is_overrun()) {
    socket_.reset();  // whoever this is, it is not our scheduler
  }
  if (!is_connected() && !is_finished_) {
    note("the scheduler is gone; training goes on as long as the ring is whole");
  }
  return {};
}

Result<JoinOutcome> join(JoinRequest request) {
  const auto deadline = Clock::now() + request.timeout;
  auto pause = kFirstPause;
  bool has_noted = false;
  while (true) {
    Attempt attempt = TRY(try_once(request, deadline));
    if (auto* joined = std::get_if<Joined>(&attempt)) {
      return std::move(*joined);
    }
    if (std::holds_alternative<AlreadyFinished>(attempt)) {
      return AlreadyFinished{};
    }
    auto& obstacle = std::get<Obstacle>(attempt);
    const auto left = deadline - Clock::now();
    if (left <= Clock::duration::zero()) {
      return TimedOut{std::move(obstacle.reason)};
    }
    if (!std::exchange(has_noted, true)) {
      note("{}; trying again for {} s", obstacle.reason, request.timeout.count());
    }
    std::this_thread::sleep_for(std::min<Clock::duration>(pause, left));
    pause = std::min(2 * pause, kLongestPause);
  }
}

}  // namespace muster::trainer
