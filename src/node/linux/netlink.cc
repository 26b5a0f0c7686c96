#include "node/linux/netlink.h"

#include <arpa/inet.h>
#include <linux/if_link.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/veth.h>
#include <net/if.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>

namespace muster::node::linux {

Result<std::uint32_t> parse_address(std::string_view text) {
  in_addr address{};
  if (::inet_pton(AF_INET, std::string(text).c_str(), &address) != 1) {
    return fail(ErrorCode::Invalid, "\"" + std::string(text) + "\" is not an IPv4 address");
  }
  return ntohl(address.s_addr);
}

std::string format_address(std::uint32_t address) {
  const in_addr raw{.s_addr = htonl(address)};
  std::array<char, INET_ADDRSTRLEN> text{};
  ::inet_ntop(AF_INET, &raw, text.data(), text.size());
  return text.data();
}

Result<Range> parse_range(std::string_view text) {
  const auto slash = text.find('/');
  Range range;
  const auto digits = slash == std::string_view::npos ? "" : text.substr(slash + 1);
  const auto end = digits.data() + digits.size();
  const auto parsed = std::from_chars(digits.data(), end, range.prefix);
  if (digits.empty() || parsed.ptr != end || range.prefix < 0 || range.prefix > 32) {
    return fail(ErrorCode::Invalid,
                "\"" + std::string(text) + "\" is not an IPv4 range such as 10.222.0.0/16");
  }
  range.base = TRY(parse_address(text.substr(0, slash))) & range.mask();
  return range;
}

NetlinkMessage::NetlinkMessage(std::uint16_t type, std::uint16_t flags) {
  nlmsghdr head{};
  head.nlmsg_type = type;
  head.nlmsg_flags = static_cast<std::uint16_t>(NLM_F_REQUEST | NLM_F_ACK | flags);
  raw(&head, sizeof head);
}

NetlinkMessage& NetlinkMessage::raw(const void* data, std::size_t size) {
  bytes_.append(static_cast<const char*>(data), size);
  bytes_.resize((bytes_.size() + 3) & ~std::size_t{3});
  return *this;
}

NetlinkMessage& NetlinkMessage::attribute(std::uint16_t type, const void* data, std::size_t size) {
  const rtattr head{.rta_len = static_cast<std::uint16_t>(sizeof(rtattr) + size), .rta_type = type};
  bytes_.append(reinterpret_cast<const char*>(&head), sizeof head);
  return raw(data, size);
}

NetlinkMessage& NetlinkMessage::text(std::uint16_t type, std::string_view value) {
  const std::string terminated(value);
  return attribute(type, terminated.c_str(), terminated.size() + 1);
}

NetlinkMessage& NetlinkMessage::u8(std::uint16_t type, std::uint8_t value) {
  return attribute(type, &value, sizeof value);
}

NetlinkMessage& NetlinkMessage::u32(std::uint16_t type, std::uint32_t value) {
  return attribute(type, &value, sizeof value);
}

NetlinkMessage& NetlinkMessage::big_u32(std::uint16_t type, std::uint32_t value) {
  return u32(type, htonl(value));
}

std::size_t NetlinkMessage::begin(std::uint16_t type) {
  const auto at = bytes_.size();
  attribute(static_cast<std::uint16_t>(type | NLA_F_NESTED), nullptr, 0);
  return at;
}

NetlinkMessage& NetlinkMessage::end(std::size_t nest) {
  const auto size = static_cast<std::uint16_t>(bytes_.size() - nest);
  std::memcpy(bytes_.data() + nest, &size, sizeof size);
  return *this;
}

const std::string& NetlinkMessage::finish(std::uint32_t sequence) {
  nlmsghdr head{};
  std::memcpy(&head, bytes_.data(), sizeof head);
  head.nlmsg_len = static_cast<std::uint32_t>(bytes_.size());
  head.nlmsg_seq = sequence;
  std::memcpy(bytes_.data(), &head, sizeof head);
  return bytes_;
}

Result<Netlink> Netlink::open(int protocol) {
  Fd fd(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, protocol));
  if (!fd.valid()) return fail_errno("netlink socket");
  // An error would otherwise come back with the whole request behind it.
  const int on = 1;
  ::setsockopt(fd.get(), SOL_NETLINK, NETLINK_CAP_ACK, &on, sizeof on);
  return Netlink(std::move(fd));
}

Result<void> Netlink::request(NetlinkMessage& message, const std::string& what) {
  return request_batch(message.finish(next_sequence()), 1, what);
}

Result<void> Netlink::request_batch(std::string_view bytes, std::size_t acknowledgements,
                                    const std::string& what) {
  Result<void> outcome;
  TRY(exchange(bytes, acknowledgements, what, [&](std::uint32_t, int error) {
    if (outcome) outcome = fail_errno(what, error);
  }));
  return outcome;
}

Result<void> Netlink::request_all(std::vector<Request> requests) {
  const auto first = sequence_ + 1;
  std::string bytes;
  for (auto& request : requests) bytes += request.message.finish(next_sequence());
  Result<void> outcome;
  TRY(exchange(bytes, requests.size(), requests.front().what,
               [&](std::uint32_t sequence, int error) {
                 const auto& request = requests.at(sequence == 0 ? 0 : sequence - first);
                 if (outcome && !request.can_fail) outcome = fail_errno(request.what, error);
               }));
  return outcome;
}

Result<void> Netlink::exchange(std::string_view bytes, std::size_t acknowledgements,
                               const std::string& what, const OnError& on_error) {
  // The kernel takes a batch as one datagram: the send buffer must hold it, and the other one the
  // answers. What is small fits into those that there are.
  constexpr std::size_t kSmall = 8192;
  if (bytes.size() > kSmall) {
    const int size = static_cast<int>(bytes.size()) * 2 + 65536;
    ::setsockopt(fd_.get(), SOL_SOCKET, SO_SNDBUFFORCE, &size, sizeof size);
    ::setsockopt(fd_.get(), SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof size);
  }
  sockaddr_nl kernel{};
  kernel.nl_family = AF_NETLINK;
  if (::sendto(fd_.get(), bytes.data(), bytes.size(), 0, reinterpret_cast<sockaddr*>(&kernel),
               sizeof kernel) < 0) {
    return fail_errno(what);
  }
  alignas(nlmsghdr) std::array<char, 32768> buffer;
  while (acknowledgements > 0) {
    const auto got = ::recv(fd_.get(), buffer.data(), buffer.size(), 0);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail_errno(what);
    auto left = static_cast<std::uint32_t>(got);
    for (auto* head = reinterpret_cast<nlmsghdr*>(buffer.data()); NLMSG_OK(head, left);
         head = NLMSG_NEXT(head, left)) {
      if (head->nlmsg_type != NLMSG_ERROR) continue;
      const auto* error = static_cast<const nlmsgerr*>(NLMSG_DATA(head));
      if (error->error != 0) on_error(head->nlmsg_seq, -error->error);
      if (acknowledgements > 0) --acknowledgements;
      // A batch that cannot be taken is answered once for the whole of it.
      if (error->error != 0 && head->nlmsg_seq == 0) return {};
    }
  }
  return {};
}

std::string nft_boundary(std::uint16_t type) {
  nlmsghdr head{};
  head.nlmsg_type = type;
  head.nlmsg_flags = NLM_F_REQUEST;
  head.nlmsg_len = sizeof head + sizeof(nfgenmsg);
  const nfgenmsg general{
      .nfgen_family = AF_UNSPEC, .version = 0, .res_id = htons(NFNL_SUBSYS_NFTABLES)};
  std::string bytes(reinterpret_cast<const char*>(&head), sizeof head);
  return bytes.append(reinterpret_cast<const char*>(&general), sizeof general);
}

unsigned link_index(const std::string& name) {
  return ::if_nametoindex(name.c_str());
}

// Not by its index: asked for that of a link that is not there, the kernel has a program started
// that looks for a driver of that name.
bool link_exists(const std::string& name) {
  return ::access(("/proc/sys/net/ipv4/conf/" + name).c_str(), F_OK) == 0;
}

Result<void> create_bridge(Netlink& netlink, const std::string& name) {
  NetlinkMessage message(RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL);
  message.header(ifinfomsg{}).text(IFLA_IFNAME, name);
  const auto info = message.begin(IFLA_LINKINFO);
  message.text(IFLA_INFO_KIND, "bridge");
  // Pods have no IPv6 and join no groups: with nobody to keep lists of listeners for, each link
  // would be asked about them all the same when it goes up.
  const auto data = message.begin(IFLA_INFO_DATA);
  message.u8(IFLA_BR_MCAST_SNOOPING, 0).end(data).end(info);
  return netlink.request(message, "create the bridge " + name);
}

namespace {

using Request = Netlink::Request;

// One is all that a pair uses; left to itself the kernel makes one for each core and takes all but
// the first away again, under a lock that every pod's set-up needs.
void ask_for_one_queue(NetlinkMessage& message) {
  message.u32(IFLA_NUM_TX_QUEUES, 1).u32(IFLA_NUM_RX_QUEUES, 1);
}

// Pods have IPv4 only. Left to itself the kernel gives each link that goes up an address that
// nobody asked for, and says so to every other pod on the bridge, several times: of n pods that
// start, n² packets. Not by a write to /proc/sys/net: looking there takes the longer the more
// network namespaces there are, under one lock for all of them.
Request without_ipv6(const std::string& name) {
  NetlinkMessage message(RTM_NEWLINK, 0);
  message.header(ifinfomsg{}).text(IFLA_IFNAME, name);
  const auto families = message.begin(IFLA_AF_SPEC);
  const auto six = message.begin(AF_INET6);
  message.u8(IFLA_INET6_ADDR_GEN_MODE, IN6_ADDR_GEN_MODE_NONE).end(six).end(families);
  return {.message = std::move(message),
          .what = "keep the link " + name + " from addresses of IPv6",
          .can_fail = true};
}

Request up(const std::string& name) {
  NetlinkMessage message(RTM_NEWLINK, 0);
  ifinfomsg head{};
  head.ifi_flags = IFF_UP;
  head.ifi_change = IFF_UP;
  message.header(head).text(IFLA_IFNAME, name);
  return {.message = std::move(message), .what = "set the link " + name + " up"};
}

Request address_of(const std::string& name, std::uint32_t address, int prefix) {
  NetlinkMessage message(RTM_NEWADDR, NLM_F_CREATE | NLM_F_EXCL);
  ifaddrmsg head{};
  head.ifa_family = AF_INET;
  head.ifa_prefixlen = static_cast<std::uint8_t>(prefix);
  head.ifa_scope = RT_SCOPE_UNIVERSE;
  head.ifa_index = link_index(name);
  message.header(head).big_u32(IFA_LOCAL, address).big_u32(IFA_ADDRESS, address);
  return {.message = std::move(message),
          .what = "add the address " + format_address(address) + " to " + name};
}

Request default_route(std::uint32_t gateway) {
  NetlinkMessage message(RTM_NEWROUTE, NLM_F_CREATE | NLM_F_EXCL);
  rtmsg head{};
  head.rtm_family = AF_INET;
  head.rtm_table = RT_TABLE_MAIN;
  head.rtm_protocol = RTPROT_BOOT;
  head.rtm_scope = RT_SCOPE_UNIVERSE;
  head.rtm_type = RTN_UNICAST;
  message.header(head).big_u32(RTA_GATEWAY, gateway);
  return {.message = std::move(message), .what = "add the default route"};
}

Request new_pair(const std::string& name, unsigned bridge, int peer_namespace,
                 std::uint32_t peer_address) {
  // The hardware address follows from the IP address: who gets a used address answers to the
  // neighbours' remembered hardware address too.
  const std::uint32_t big = htonl(peer_address);
  std::array<std::uint8_t, 6> hardware{0x02, 0x4d};
  std::memcpy(hardware.data() + 2, &big, sizeof big);

  NetlinkMessage message(RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL);
  message.header(ifinfomsg{}).text(IFLA_IFNAME, name).u32(IFLA_MASTER, bridge);
  ask_for_one_queue(message);
  const auto info = message.begin(IFLA_LINKINFO);
  message.text(IFLA_INFO_KIND, "veth");
  const auto data = message.begin(IFLA_INFO_DATA);
  const auto peer = message.begin(VETH_INFO_PEER);
  message.header(ifinfomsg{}).text(IFLA_IFNAME, "eth0");  // goes up only when both ends are there
  ask_for_one_queue(message);
  message.attribute(IFLA_ADDRESS, hardware.data(), hardware.size());
  message.u32(IFLA_NET_NS_FD, static_cast<std::uint32_t>(peer_namespace));
  message.end(peer).end(data).end(info);
  return {.message = std::move(message), .what = "create the link " + name};
}

std::vector<Request> in_turn(auto... requests) {
  std::vector<Request> all;
  (all.push_back(std::move(requests)), ...);
  return all;
}

}  // namespace

Result<void> create_pair(Netlink& netlink, const std::string& name, unsigned bridge,
                         int peer_namespace, std::uint32_t peer_address) {
  return netlink.request_all(
      in_turn(new_pair(name, bridge, peer_namespace, peer_address), without_ipv6(name), up(name)));
}

Result<void> join_network(Netlink& inside, std::uint32_t address, int prefix,
                          std::uint32_t gateway) {
  const std::string link = "eth0";
  return inside.request_all(in_turn(up("lo"), without_ipv6(link), up(link),
                                    address_of(link, address, prefix), default_route(gateway)));
}

Result<void> delete_link(Netlink& netlink, const std::string& name) {
  NetlinkMessage message(RTM_DELLINK, 0);
  message.header(ifinfomsg{}).text(IFLA_IFNAME, name);
  return netlink.request(message, "delete the link " + name);
}

Result<void> set_up(Netlink& netlink, const std::string& name) {
  return netlink.request_all(in_turn(up(name)));
}

Result<void> add_address(Netlink& netlink, const std::string& name, std::uint32_t address,
                         int prefix) {
  return netlink.request_all(in_turn(address_of(name, address, prefix)));
}

namespace {

Result<void> blackhole(Netlink& netlink, std::uint16_t type, std::uint16_t flags, Range range,
                       std::uint32_t metric) {
  NetlinkMessage message(type, flags);
  rtmsg head{};
  head.rtm_family = AF_INET;
  head.rtm_dst_len = static_cast<std::uint8_t>(range.prefix);
  head.rtm_table = RT_TABLE_MAIN;
  head.rtm_protocol = RTPROT_STATIC;
  head.rtm_scope = RT_SCOPE_UNIVERSE;
  head.rtm_type = RTN_BLACKHOLE;
  message.header(head).big_u32(RTA_DST, range.base).u32(RTA_PRIORITY, metric);
  return netlink.request(message, "the route that closes " + format_address(range.base) + "/" +
                                      std::to_string(range.prefix));
}

}  // namespace

Result<void> add_blackhole(Netlink& netlink, Range range, std::uint32_t metric) {
  return blackhole(netlink, RTM_NEWROUTE, NLM_F_CREATE | NLM_F_EXCL, range, metric);
}

Result<void> delete_blackhole(Netlink& netlink, Range range, std::uint32_t metric) {
  return blackhole(netlink, RTM_DELROUTE, 0, range, metric);
}

bool is_already(const Error& error) {
  return error.message.ends_with(std::strerror(EEXIST));  // NOLINT(concurrency-mt-unsafe)
}

bool is_missing(const Error& error) {
  return error.message.ends_with(std::strerror(ENODEV)) ||  // NOLINT(concurrency-mt-unsafe)
         error.message.ends_with(std::strerror(ESRCH));     // NOLINT(concurrency-mt-unsafe)
}

}  // namespace muster::node::linux
