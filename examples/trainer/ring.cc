#include "trainer/ring.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <utility>

#include <fmt/core.h>

#include "trainer/bytes.h"

namespace muster::trainer {
namespace {

constexpr std::uint64_t kMagic = 0x3130676e6972736d;  // "msring01"
constexpr std::size_t kHelloSize = 5 * sizeof(std::uint64_t);
constexpr std::size_t kHeaderSize = 3 * sizeof(std::uint64_t);
// A stranger that connects and says nothing must not keep the previous rank waiting for long.
constexpr auto kHelloPatience = std::chrono::seconds(2);
constexpr std::uint64_t kBarrierStep = std::numeric_limits<std::uint64_t>::max();

// The first bytes on a connection: who calls, and in which ring.
std::string hello(const Start& start, std::size_t rank) {
  std::string bytes;
  append_number(bytes, kMagic);
  append_number(bytes, start.session);
  append_number(bytes, start.generation);
  append_number(bytes, std::uint64_t{start.peers.size()});
  append_number(bytes, std::uint64_t{rank});
  return bytes;
}

// What precedes each chunk.
std::string header(std::uint64_t step, std::size_t round, std::size_t count) {
  std::string bytes;
  append_number(bytes, step);
  append_number(bytes, std::uint64_t{round});
  append_number(bytes, std::uint64_t{count});
  return bytes;
}

void add_chunk(std::string_view bytes, std::span<double> values) {
  for (double& value : values) {
    value += take_number<double>(bytes);
  }
}

}  // namespace

Ring::Ring(Start start, SchedulerLink& link, std::chrono::milliseconds patience)
    : start_(std::move(start)), link_(&link), patience_(patience) {}

Result<Ring> Ring::connect(Setup setup) {
  Ring ring(std::move(setup.start), setup.link, setup.patience);
  if (ring.ranks() > 1) {
    // Everybody listened before registering, so calling first and accepting second cannot block the
    // ring.
    TRY(ring.call_next());
    TRY(ring.accept_previous(setup.listener));
  }
  return ring;
}

Result<void> Ring::call_next() {
  const Endpoint& endpoint = start_.peers[next_rank()].endpoint;
  auto socket = connect_to(endpoint.address, endpoint.port, Clock::now() + patience_);
  if (!socket) {
    return lost(next_rank(), socket.error().message);
  }
  next_ = std::move(*socket);
  const std::string bytes = hello(start_, start_.rank);
  const Transfer transfer = send_some(next_, bytes);
  if (transfer.bytes != bytes.size()) {
    return lost(next_rank(), transfer.closed.value_or("it does not read"));
  }
  return {};
}

Result<void> Ring::accept_previous(const Descriptor& listener) {
  const auto deadline = Clock::now() + patience_;
  const std::array<pollfd, 1> waiting = {
      {{.fd = listener.number(), .events = POLLIN, .revents = 0}}};
  while (TRY(link_->wait(waiting, deadline))) {
    auto socket = TRY(accept_from(listener));
    if (socket && TRY(is_previous(*socket, std::min(deadline, Clock::now() + kHelloPatience)))) {
      previous_ = std::move(*socket);
      return {};
    }
  }
  return lost(previous_rank(), "it did not connect in time");
}

Result<bool> Ring::is_previous(const Descriptor& socket, Clock::time_point deadline) {
  const std::array<pollfd, 1> waiting = {{{.fd = socket.number(), .events = POLLIN, .revents = 0}}};
  std::string received;
  std::array<char, kHelloSize> buffer;
  while (received.size() < kHelloSize && TRY(link_->wait(waiting, deadline))) {
    // Not a byte more than the introduction: what follows is the first frame.
    const auto rest = std::span(buffer).first(kHelloSize - received.size());
    const Transfer transfer = receive_some(socket, rest);
    received.append(buffer.data(), transfer.bytes);
    if (transfer.closed) {
      break;
    }
  }
  return received == hello(start_, previous_rank());
}

Result<void> Ring::sum(std::uint64_t step, std::span<double> values) {
  for (std::size_t index = 0; index < round_count(ranks()); ++index) {
    const Round round = round_of(start_.rank, ranks(), index);
    const Chunk sent = chunk_of(values.size(), ranks(), round.sent);
    const Chunk received = chunk_of(values.size(), ranks(), round.received);

    outgoing_ = header(step, index, sent.count);
    append_numbers(outgoing_, values.subspan(sent.first, sent.count));
    incoming_.resize(kHeaderSize + received.count * sizeof(double));
    TRY(exchange());

    std::string_view payload = incoming_;
    if (!payload.starts_with(header(step, index, received.count))) {
      return lost(previous_rank(), "it sent a frame that does not belong here");
    }
    payload.remove_prefix(kHeaderSize);
    const auto target = values.subspan(received.first, received.count);
    round.adds ? add_chunk(payload, target) : take_numbers(payload, target);
  }
  return {};
}

Result<void> Ring::pause(std::chrono::milliseconds duration) {
  // True would mean that one of no descriptors is ready.
  static_cast<void>(TRY(link_->wait({}, Clock::now() + duration)));
  return {};
}

Result<void> Ring::barrier() {
  std::array<double, 1> token = {1.0};
  return sum(kBarrierStep, token);
}

Result<void> Ring::exchange() {
  std::string_view unsent = outgoing_;
  std::span<char> unfilled = incoming_;
  auto deadline = Clock::now() + patience_;
  while (!unsent.empty() || !unfilled.empty()) {
    // A descriptor of -1 is skipped. The next rank is not watched when we have nothing for it: at
    // the end of the training it may rightly be gone while we still read.
    const std::array<pollfd, 2> waiting = {
        {{.fd = unsent.empty() ? -1 : next_.number(), .events = POLLOUT, .revents = 0},
         {.fd = unfilled.empty() ? -1 : previous_.number(), .events = POLLIN, .revents = 0}}};
    if (!TRY(link_->wait(waiting, deadline))) {
      return lost(unfilled.empty() ? next_rank() : previous_rank(),
                  fmt::format("nothing moved for {} s", patience_.count() / 1000));
    }
    const Transfer sent = unsent.empty() ? Transfer{} : send_some(next_, unsent);
    const Transfer received = unfilled.empty() ? Transfer{} : receive_some(previous_, unfilled);
    if (sent.closed || received.closed) {
      return sent.closed ? lost(next_rank(), *sent.closed)
                         : lost(previous_rank(), *received.closed);
    }
    unsent.remove_prefix(sent.bytes);
    unfilled = unfilled.subspan(received.bytes);
    if (sent.bytes + received.bytes > 0) {
      deadline = Clock::now() + patience_;
    }
  }
  return {};
}

std::unexpected<Error> Ring::lost(std::size_t rank, std::string_view how) const {
  return peer_lost(fmt::format("{} (rank {}): {}", start_.peers[rank].node_id, rank, how));
}

}  // namespace muster::trainer
