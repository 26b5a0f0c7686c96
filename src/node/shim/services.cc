#include "node/shim/services.h"

#include <arpa/inet.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netlink.h>
#include <netinet/in.h>

#include <optional>

#include "node/linux/netlink.h"

namespace muster::node::shim {

namespace {

constexpr const char* kTable = "muster";
constexpr const char* kBalance = "balance";
constexpr const char* kRefuse = "refuse";
constexpr int kPriorityDestinationNat = -100;
constexpr std::uint8_t kIcmpPortUnreachable = 3;

constexpr std::uint16_t nft(int type) {
  return static_cast<std::uint16_t>((NFNL_SUBSYS_NFTABLES << 8) | type);
}

// The expressions of one rule, in the order the kernel evaluates them.
class Rule {
 public:
  explicit Rule(const char* chain) : message_(nft(NFT_MSG_NEWRULE), NLM_F_CREATE | NLM_F_APPEND) {
    message_.header(nfgenmsg{.nfgen_family = NFPROTO_IPV4});
    message_.text(NFTA_RULE_TABLE, kTable).text(NFTA_RULE_CHAIN, chain);
    list_ = message_.begin(NFTA_RULE_EXPRESSIONS);
  }

  Rule& protocol(std::uint8_t number) {
    expression("meta", [&] {
      message_.big_u32(NFTA_META_KEY, NFT_META_L4PROTO).big_u32(NFTA_META_DREG, NFT_REG_1);
    });
    return equals(&number, sizeof number);
  }
  Rule& destination(linux::Range range) {
    load(NFT_PAYLOAD_NETWORK_HEADER, 16, 4);
    if (range.prefix < 32) {
      expression("bitwise", [&] {
        message_.big_u32(NFTA_BITWISE_SREG, NFT_REG_1).big_u32(NFTA_BITWISE_DREG, NFT_REG_1);
        message_.big_u32(NFTA_BITWISE_LEN, 4);
        data(NFTA_BITWISE_MASK, htonl(range.mask()));
        data(NFTA_BITWISE_XOR, std::uint32_t{0});
      });
    }
    const std::uint32_t base = htonl(range.base);
    return equals(&base, sizeof base);
  }
  Rule& port(std::uint16_t number) {
    load(NFT_PAYLOAD_TRANSPORT_HEADER, 2, 2);
    const std::uint16_t big = htons(number);
    return equals(&big, sizeof big);
  }
  // Holds for every n-th packet that comes this far, the first one included.
  Rule& every(std::uint32_t n) {
    if (n == 1) return *this;
    expression("numgen", [&] {
      message_.big_u32(NFTA_NG_DREG, NFT_REG_1).big_u32(NFTA_NG_MODULUS, n);
      message_.big_u32(NFTA_NG_TYPE, NFT_NG_INCREMENTAL).big_u32(NFTA_NG_OFFSET, 0);
    });
    const std::uint32_t zero = 0;
    return equals(&zero, sizeof zero);
  }
  Rule& send_to(std::uint32_t address, std::uint16_t port_number) {
    immediate(NFT_REG_1, htonl(address));
    immediate(NFT_REG_2, htons(port_number));
    expression("nat", [&] {
      message_.big_u32(NFTA_NAT_TYPE, NFT_NAT_DNAT).big_u32(NFTA_NAT_FAMILY, NFPROTO_IPV4);
      message_.big_u32(NFTA_NAT_REG_ADDR_MIN, NFT_REG_1).big_u32(NFTA_NAT_REG_PROTO_MIN, NFT_REG_2);
    });
    return *this;
  }
  Rule& reset() {
    expression("reject", [&] { message_.big_u32(NFTA_REJECT_TYPE, NFT_REJECT_TCP_RST); });
    return *this;
  }
  Rule& unreachable() {
    expression("reject", [&] {
      message_.big_u32(NFTA_REJECT_TYPE, NFT_REJECT_ICMP_UNREACH);
      message_.u8(NFTA_REJECT_ICMP_CODE, kIcmpPortUnreachable);
    });
    return *this;
  }
  linux::NetlinkMessage& done() { return message_.end(list_); }

 private:
  template <class Body>
  void expression(const char* name, Body body) {
    const auto element = message_.begin(NFTA_LIST_ELEM);
    message_.text(NFTA_EXPR_NAME, name);
    const auto content = message_.begin(NFTA_EXPR_DATA);
    body();
    message_.end(content).end(element);
  }
  template <class T>
  void data(std::uint16_t type, T value) {
    const auto nest = message_.begin(type);
    message_.attribute(NFTA_DATA_VALUE, &value, sizeof value).end(nest);
  }
  void load(std::uint32_t base, std::uint32_t offset, std::uint32_t size) {
    expression("payload", [&] {
      message_.big_u32(NFTA_PAYLOAD_DREG, NFT_REG_1).big_u32(NFTA_PAYLOAD_BASE, base);
      message_.big_u32(NFTA_PAYLOAD_OFFSET, offset).big_u32(NFTA_PAYLOAD_LEN, size);
    });
  }
  Rule& equals(const void* value, std::size_t size) {
    expression("cmp", [&] {
      message_.big_u32(NFTA_CMP_SREG, NFT_REG_1).big_u32(NFTA_CMP_OP, NFT_CMP_EQ);
      const auto nest = message_.begin(NFTA_CMP_DATA);
      message_.attribute(NFTA_DATA_VALUE, value, size).end(nest);
    });
    return *this;
  }
  template <class T>
  void immediate(std::uint32_t into, T value) {
    expression("immediate", [&] {
      message_.big_u32(NFTA_IMMEDIATE_DREG, into);
      data(NFTA_IMMEDIATE_DATA, value);
    });
  }

  linux::NetlinkMessage message_;
  std::size_t list_ = 0;
};

// Collects the messages of one transaction: all of them happen, or none.
class Transaction {
 public:
  explicit Transaction(linux::Netlink& netlink) : netlink_(netlink) {
    bytes_ += linux::nft_boundary(NFNL_MSG_BATCH_BEGIN);
  }

  void add(linux::NetlinkMessage& message) {
    bytes_ += message.finish(netlink_.next_sequence());
    ++count_;
  }
  void table(int type, std::uint16_t flags) {
    linux::NetlinkMessage message(nft(type), flags);
    message.header(nfgenmsg{.nfgen_family = NFPROTO_IPV4}).text(NFTA_TABLE_NAME, kTable);
    add(message);
  }
  void chain(const char* name, const char* type, int priority) {
    linux::NetlinkMessage message(nft(NFT_MSG_NEWCHAIN), NLM_F_CREATE);
    message.header(nfgenmsg{.nfgen_family = NFPROTO_IPV4});
    message.text(NFTA_CHAIN_TABLE, kTable).text(NFTA_CHAIN_NAME, name);
    const auto hook = message.begin(NFTA_CHAIN_HOOK);
    message.big_u32(NFTA_HOOK_HOOKNUM, NF_INET_LOCAL_OUT);
    message.big_u32(NFTA_HOOK_PRIORITY, static_cast<std::uint32_t>(priority)).end(hook);
    message.text(NFTA_CHAIN_TYPE, type);
    add(message);
  }
  Result<void> commit() {
    bytes_ += linux::nft_boundary(NFNL_MSG_BATCH_END);
    return netlink_.request_batch(bytes_, count_, "service rules");
  }

 private:
  linux::Netlink& netlink_;
  std::string bytes_;
  std::size_t count_ = 0;
};

void refuse(Transaction& transaction, linux::Range destination, std::uint8_t protocol,
            std::optional<std::uint16_t> port) {
  Rule rule(kRefuse);
  rule.protocol(protocol).destination(destination);
  if (port) rule.port(*port);
  transaction.add((protocol == IPPROTO_TCP ? rule.reset() : rule.unreachable()).done());
}

Result<void> add_rule(Transaction& transaction, const ServiceRule& service) {
  const linux::Range destination{.base = TRY(linux::parse_address(service.cluster_ip)),
                                 .prefix = 32};
  const std::uint8_t protocol =
      service.protocol == ServiceRule::Protocol::Tcp ? IPPROTO_TCP : IPPROTO_UDP;
  if (service.endpoints.empty()) {
    refuse(transaction, destination, protocol, service.port);
    return {};
  }
  // The first rule takes every n-th connection, the second every (n-1)-th of the rest, … : each
  // endpoint gets one of n.
  auto left = static_cast<std::uint32_t>(service.endpoints.size());
  for (const auto& endpoint : service.endpoints) {
    Rule rule(kBalance);
    rule.protocol(protocol).destination(destination).port(service.port).every(left--);
    transaction.add(
        rule.send_to(TRY(linux::parse_address(endpoint.address)), endpoint.port).done());
  }
  return {};
}

}  // namespace

Result<void> ServiceTable::replace(const std::vector<ServiceRule>& rules,
                                   const std::string& service_range) {
  if (!netlink_) netlink_ = TRY(linux::Netlink::open(NETLINK_NETFILTER));
  Transaction transaction(*netlink_);
  if (written_) transaction.table(NFT_MSG_DELTABLE, 0);
  transaction.table(NFT_MSG_NEWTABLE, NLM_F_CREATE);
  transaction.chain(kBalance, "nat", kPriorityDestinationNat);
  // After translation: what still has a service's address found no endpoint.
  transaction.chain(kRefuse, "filter", 0);
  for (const auto& rule : rules) TRY(add_rule(transaction, rule));
  if (!service_range.empty()) {
    const auto range = TRY(linux::parse_range(service_range));
    refuse(transaction, range, IPPROTO_TCP, std::nullopt);
    refuse(transaction, range, IPPROTO_UDP, std::nullopt);
  }
  auto committed = transaction.commit();
  if (committed) {
    written_ = true;
  } else {
    netlink_.reset();  // answers may be left in it
  }
  return committed;
}

}  // namespace muster::node::shim
