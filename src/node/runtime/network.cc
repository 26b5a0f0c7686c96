#include "node/runtime/network.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <sys/file.h>
#include <unistd.h>

#include <charconv>
#include <vector>

#include <fmt/format.h>

#include "base/strings.h"
#include "node/linux/files.h"

namespace muster::node {

namespace {

// How long the kernel may take with the namespaces of pods that are gone; mostly some 20 ms.
constexpr int kLinkMilliseconds = 2'000;

// /proc/net/route writes addresses as the kernel holds them, in hexadecimal.
std::uint32_t parse_hex(std::string_view text) {
  std::uint32_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value, 16);
  return ntohl(value);
}

bool overlaps(linux::Range a, std::uint32_t base, std::uint32_t mask) {
  const auto common = a.mask() & mask;
  return (a.base & common) == (base & common);
}

// Without the network, the bridge and the broadcast address.
std::uint32_t addresses_in(linux::Range block) {
  return (std::uint32_t{1} << (32 - block.prefix)) - 3;
}

Result<void> unless_already(Result<void> result) {
  if (!result && linux::is_already(result.error())) return {};
  return result;
}

}  // namespace

Result<linux::Range> free_block(linux::Range range, int prefix, std::uint64_t start,
                                std::string_view routes, std::string_view own) {
  if (prefix < range.prefix || prefix > 30) {
    return fail(ErrorCode::Invalid,
                fmt::format("a pod block of /{} does not fit into {}/{}", prefix,
                            linux::format_address(range.base), range.prefix));
  }
  std::vector<std::pair<std::uint32_t, std::uint32_t>> taken;
  for (const auto line : split(routes, '\n')) {
    const auto fields = split(line, '\t');
    if (fields.size() < 8 || fields[0] == "Iface" || fields[0] == "*" || fields[0] == own) continue;
    const auto mask = parse_hex(fields[7]);
    if (mask != 0) taken.emplace_back(parse_hex(fields[1]), mask);
  }
  const std::uint64_t blocks = std::uint64_t{1} << (prefix - range.prefix);
  for (std::uint64_t i = 0; i < blocks; ++i) {
    const auto index = (start + i) % blocks;
    const linux::Range block{
        .base = range.base + static_cast<std::uint32_t>(index << (32 - prefix)), .prefix = prefix};
    bool free = true;
    for (const auto& [base, mask] : taken) free = free && !overlaps(block, base, mask);
    if (free) return block;
  }
  return fail(
      ErrorCode::Conflict,
      fmt::format("the pod range {}/{} is taken by other routes of this machine; choose another",
                  linux::format_address(range.base), range.prefix));
}

Result<Network> Network::set_up(const Options& options) {
  const auto pods = TRY(linux::parse_range(options.pod_range));
  Network network(options, TRY(linux::Netlink::open(NETLINK_ROUTE)));
  // Two homes that start at once must not choose the same block.
  const Fd lock(
      ::open("/run/muster-network.lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (lock.valid()) ::flock(lock.get(), LOCK_EX);
  TRY(network.choose_block(pods));
  TRY(unless_already(linux::create_bridge(network.netlink_, network.bridge_)));
  const auto gateway = network.block_.base + 1;
  TRY(unless_already(
      linux::add_address(network.netlink_, network.bridge_, gateway, network.block_.prefix)));
  TRY(linux::set_up(network.netlink_, network.bridge_));
  TRY(network.close_ranges(pods));
  return network;
}

Result<void> Network::choose_block(linux::Range pods) {
  const auto routes = TRY(linux::read_file("/proc/net/route"));
  if (const auto text = linux::read_file(options_.state_file)) {
    const auto known = linux::parse_range(trim(*text));
    if (known && known->prefix == options_.block_prefix && pods.contains(known->base)) {
      // Ours unless somebody else has it by now.
      const auto still = free_block(*known, known->prefix, 0, routes, bridge_);
      if (still) {
        block_ = *still;
        return {};
      }
    }
  }
  block_ =
      TRY(free_block(pods, options_.block_prefix, stable_hash(options_.home_key), routes, bridge_));
  return linux::write_durably(
      options_.state_file,
      fmt::format("{}/{}\n", linux::format_address(block_.base), block_.prefix));
}

Result<void> Network::close_ranges(linux::Range pods) {
  // Worse than any real route to the same range, and not the same for two homes.
  metric_ = 0x4d000000U | static_cast<std::uint32_t>(stable_hash(options_.home_key) & 0xffffffU);
  TRY(unless_already(linux::add_blackhole(netlink_, pods, metric_)));
  if (options_.service_range.empty()) return {};
  return unless_already(
      linux::add_blackhole(netlink_, TRY(linux::parse_range(options_.service_range)), metric_));
}

std::optional<std::uint32_t> Network::next_free() {
  for (std::uint32_t i = 0; i < addresses_in(block_); ++i) {
    last_ = last_ >= addresses_in(block_) + 1 ? 2 : last_ + 1;
    if (used_.insert(block_.base + last_).second) return block_.base + last_;
  }
  return std::nullopt;
}

Result<std::string> Network::allocate() {
  auto address = next_free();
  if (!address) {
    free_addresses_of_gone_links();
    address = next_free();
  }
  if (address) return linux::format_address(*address);
  return fail(ErrorCode::TooManyRequests,
              fmt::format("all {} pod addresses of this home are in use", addresses_in(block_)));
}

bool Network::take(const std::string& address) {
  const auto parsed = linux::parse_address(address);
  if (!parsed || !block_.contains(*parsed)) return false;
  used_.insert(*parsed);
  return true;
}

void Network::release(const std::string& address, const std::string& link) {
  if (const auto parsed = linux::parse_address(address))
    leaving_.push_back({.address = *parsed, .link = link});
}

void Network::free_addresses_of_gone_links() {
  std::erase_if(leaving_, [this](const Leaving& pod) {
    const bool gone = !linux::link_exists(pod.link);
    if (gone) used_.erase(pod.address);
    return gone;
  });
}

void Network::tear_down() {
  for (int waited = 0; waited < kLinkMilliseconds; ++waited) {
    free_addresses_of_gone_links();
    if (leaving_.empty()) break;
    ::usleep(1000);
  }
  // What is gone already is as good as deleted.
  for (const auto& left : leaving_) [[maybe_unused]]
    const auto link = linux::delete_link(netlink_, left.link);
  [[maybe_unused]] const auto bridge = linux::delete_link(netlink_, bridge_);
  for (const auto& text : {options_.pod_range, options_.service_range}) {
    if (const auto range = linux::parse_range(text)) {
      [[maybe_unused]] const auto route = linux::delete_blackhole(netlink_, *range, metric_);
    }
  }
}

}  // namespace muster::node
