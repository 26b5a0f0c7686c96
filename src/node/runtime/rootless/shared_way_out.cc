#include "node/runtime/rootless/shared_way_out.h"

#include <arpa/inet.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netlink.h>

#include "base/strings.h"
#include "node/linux/files.h"
#include "node/linux/netlink.h"
#include "node/runtime/host.h"

namespace muster::node {

namespace {

using linux::NetlinkMessage;

constexpr const char* kForwarding = "/proc/sys/net/ipv4/ip_forward";
constexpr const char* kTable = "muster-out";
constexpr const char* kChain = "leave";
constexpr std::uint32_t kPrioritySourceNat = 100;

constexpr std::uint16_t nft(int type) {
  return static_cast<std::uint16_t>((NFNL_SUBSYS_NFTABLES << 8) | type);
}

NetlinkMessage table(int type, std::uint16_t flags) {
  NetlinkMessage message(nft(type), flags);
  message.header(nfgenmsg{.nfgen_family = NFPROTO_IPV4}).text(NFTA_TABLE_NAME, kTable);
  return message;
}

NetlinkMessage chain() {
  NetlinkMessage message(nft(NFT_MSG_NEWCHAIN), NLM_F_CREATE);
  message.header(nfgenmsg{.nfgen_family = NFPROTO_IPV4});
  message.text(NFTA_CHAIN_TABLE, kTable).text(NFTA_CHAIN_NAME, kChain);
  const auto hook = message.begin(NFTA_CHAIN_HOOK);
  message.big_u32(NFTA_HOOK_HOOKNUM, NF_INET_POST_ROUTING);
  message.big_u32(NFTA_HOOK_PRIORITY, kPrioritySourceNat).end(hook);
  message.text(NFTA_CHAIN_TYPE, "nat");
  return message;
}

template <class Body>
void expression(NetlinkMessage& message, const char* name, Body body) {
  const auto element = message.begin(NFTA_LIST_ELEM);
  message.text(NFTA_EXPR_NAME, name);
  const auto content = message.begin(NFTA_EXPR_DATA);
  body();
  message.end(content).end(element);
}

void data(NetlinkMessage& message, std::uint16_t type, std::uint32_t value) {
  const auto nest = message.begin(type);
  message.u32(NFTA_DATA_VALUE, value).end(nest);
}

// What leaves by the link has its address. Source translation is of the same kernel module as the
// services' rules.
NetlinkMessage rule(std::uint32_t link, std::uint32_t address) {
  NetlinkMessage message(nft(NFT_MSG_NEWRULE), NLM_F_CREATE | NLM_F_APPEND);
  message.header(nfgenmsg{.nfgen_family = NFPROTO_IPV4});
  message.text(NFTA_RULE_TABLE, kTable).text(NFTA_RULE_CHAIN, kChain);
  const auto list = message.begin(NFTA_RULE_EXPRESSIONS);
  expression(message, "meta", [&] {
    message.big_u32(NFTA_META_KEY, NFT_META_OIF).big_u32(NFTA_META_DREG, NFT_REG_1);
  });
  expression(message, "cmp", [&] {
    message.big_u32(NFTA_CMP_SREG, NFT_REG_1).big_u32(NFTA_CMP_OP, NFT_CMP_EQ);
    data(message, NFTA_CMP_DATA, link);
  });
  expression(message, "immediate", [&] {
    message.big_u32(NFTA_IMMEDIATE_DREG, NFT_REG_1);
    data(message, NFTA_IMMEDIATE_DATA, htonl(address));
  });
  expression(message, "nat", [&] {
    message.big_u32(NFTA_NAT_TYPE, NFT_NAT_SNAT).big_u32(NFTA_NAT_FAMILY, NFPROTO_IPV4);
    message.big_u32(NFTA_NAT_REG_ADDR_MIN, NFT_REG_1);
  });
  message.end(list);
  return message;
}

}  // namespace

Result<void> share_way_out(const std::string& link) {
  const auto address = TRY(linux::parse_address(host_address()));
  auto netlink = TRY(linux::Netlink::open(NETLINK_NETFILTER));
  // Made first, so that there is one to delete.
  NetlinkMessage messages[] = {table(NFT_MSG_NEWTABLE, NLM_F_CREATE), table(NFT_MSG_DELTABLE, 0),
                               table(NFT_MSG_NEWTABLE, NLM_F_CREATE), chain(),
                               rule(linux::link_index(link), address)};
  std::string bytes = linux::nft_boundary(NFNL_MSG_BATCH_BEGIN);
  for (auto& message : messages) bytes += message.finish(netlink.next_sequence());
  bytes += linux::nft_boundary(NFNL_MSG_BATCH_END);
  TRY(netlink.request_batch(bytes, std::size(messages), "the rule of the way out"));
  return linux::write_existing(kForwarding, "1");
}

bool is_way_out_shared() {
  const auto text = linux::read_file(kForwarding, 16);
  return text && trim(*text) == "1";
}

}  // namespace muster::node
