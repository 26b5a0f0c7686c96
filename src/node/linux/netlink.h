#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/fd.h"

// rtnetlink without helpers: links, addresses and routes, one function a kernel fact.
namespace muster::node::linux {

// An IPv4 range as people write it, 10.222.0.0/16; host byte order.
struct Range {
  std::uint32_t base = 0;
  int prefix = 0;
  [[nodiscard]] std::uint32_t mask() const {
    return prefix == 0 ? 0 : ~std::uint32_t{0} << (32 - prefix);
  }
  [[nodiscard]] bool contains(std::uint32_t address) const { return (address & mask()) == base; }
};
Result<Range> parse_range(std::string_view text);
Result<std::uint32_t> parse_address(std::string_view text);
std::string format_address(std::uint32_t address);

// One netlink request under construction.
class NetlinkMessage {
 public:
  NetlinkMessage(std::uint16_t type, std::uint16_t flags);
  template <class Header>
  NetlinkMessage& header(const Header& value) {
    return raw(&value, sizeof value);
  }
  NetlinkMessage& raw(const void* data, std::size_t size);
  NetlinkMessage& attribute(std::uint16_t type, const void* data, std::size_t size);
  NetlinkMessage& text(std::uint16_t type, std::string_view value);  // with its final zero
  NetlinkMessage& u8(std::uint16_t type, std::uint8_t value);
  NetlinkMessage& u32(std::uint16_t type, std::uint32_t value);
  NetlinkMessage& big_u32(std::uint16_t type, std::uint32_t value);  // network byte order
  std::size_t begin(std::uint16_t type);
  NetlinkMessage& end(std::size_t nest);
  // The bytes, with the length and the number filled in.
  const std::string& finish(std::uint32_t sequence);

 private:
  std::string bytes_;
};

// A socket of the network namespace that it was opened in, and stays there.
class Netlink {
 public:
  static Result<Netlink> open(int protocol);
  // Sends requests that each want an acknowledgement, and gives the first error. `what` is its
  // context.
  Result<void> request(NetlinkMessage& message, const std::string& what);
  Result<void> request_batch(std::string_view bytes, std::size_t acknowledgements,
                             const std::string& what);
  // Several in one datagram, done one after the other.
  struct Request {
    NetlinkMessage message;
    std::string what;
    bool can_fail = false;  // not every kernel has it
  };
  Result<void> request_all(std::vector<Request> requests);
  std::uint32_t next_sequence() { return ++sequence_; }

 private:
  explicit Netlink(Fd fd) : fd_(std::move(fd)) {}
  // Calls back for each acknowledgement that is an error. One with number 0 is for all of them.
  using OnError = std::function<void(std::uint32_t sequence, int error)>;
  Result<void> exchange(std::string_view bytes, std::size_t acknowledgements,
                        const std::string& what, const OnError& on_error);
  Fd fd_;
  std::uint32_t sequence_ = 0;
};

// One end of a transaction of nftables (NFNL_MSG_BATCH_BEGIN, NFNL_MSG_BATCH_END). Such ends are
// not acknowledged, so they do not ask for it.
std::string nft_boundary(std::uint16_t type);

// In the namespace that the caller is in; 0 when there is none. For one that should be there.
unsigned link_index(const std::string& name);
bool link_exists(const std::string& name);

Result<void> create_bridge(Netlink& netlink, const std::string& name);
// A pair: `name` here, on the bridge and up; `eth0` in the other namespace, with a hardware address
// that follows from its IP address.
Result<void> create_pair(Netlink& netlink, const std::string& name, unsigned bridge,
                         int peer_namespace, std::uint32_t peer_address);
// The other end, seen from its namespace: `lo` and `eth0` go up, with an address and a way out.
Result<void> join_network(Netlink& inside, std::uint32_t address, int prefix,
                          std::uint32_t gateway);
Result<void> delete_link(Netlink& netlink, const std::string& name);
Result<void> set_up(Netlink& netlink, const std::string& name);
Result<void> add_address(Netlink& netlink, const std::string& name, std::uint32_t address,
                         int prefix);
// A route to nowhere with its own metric, so that several owners can each have theirs.
Result<void> add_blackhole(Netlink& netlink, Range range, std::uint32_t metric);
Result<void> delete_blackhole(Netlink& netlink, Range range, std::uint32_t metric);

// True for an error that says the thing was there, or was gone, already.
bool is_already(const Error& error);
bool is_missing(const Error& error);

}  // namespace muster::node::linux
