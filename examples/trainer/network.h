#pragma once

#include <poll.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "trainer/descriptor.h"
#include "trainer/error.h"

namespace muster::trainer {

using Clock = std::chrono::steady_clock;

// Where a worker accepts its neighbour in the ring. IPv4 only, as MS_SCHED_HOST is.
struct Endpoint {
  std::string address;
  std::uint16_t port = 0;

  friend bool operator==(const Endpoint&, const Endpoint&) = default;
};

[[nodiscard]] std::string to_string(const Endpoint& endpoint);

// "10.0.0.7:41234", or nothing.
[[nodiscard]] std::optional<Endpoint> parse_endpoint(std::string_view text);

// Every socket made here is non-blocking and sends small messages at once.

// Listens on all addresses; port 0 lets the kernel choose.
[[nodiscard]] Result<Descriptor> listen_on(std::uint16_t port);

// The next connection that waits, if there is one.
[[nodiscard]] Result<std::optional<Descriptor>> accept_from(const Descriptor& listener);

[[nodiscard]] Result<Descriptor> connect_to(const std::string& host, std::uint16_t port,
                                            Clock::time_point deadline);

// The socket's own end.
[[nodiscard]] Result<Endpoint> local_endpoint(const Descriptor& socket);

struct Transfer {
  std::size_t bytes = 0;              // 0 when the socket is not ready
  std::optional<std::string> closed;  // why the connection is over, if it is
};
[[nodiscard]] Transfer receive_some(const Descriptor& socket, std::span<char> buffer);
[[nodiscard]] Transfer send_some(const Descriptor& socket, std::string_view bytes);

// Waits until one of the descriptors has something to report; false when the deadline came first.
[[nodiscard]] Result<bool> wait_for(std::span<pollfd> descriptors, Clock::time_point deadline);

}  // namespace muster::trainer
