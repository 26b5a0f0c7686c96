#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/error.h"
#include "node/linux/netlink.h"

namespace muster::node {

// The home's bridge and its block of pod addresses. Blocking calls, made before anything else runs,
// after everything else, or on the loop (microseconds each); lives on the agent's loop.
//
// A pod's link goes with its network namespace. To delete it makes the kernel wait until every core
// has let go of it, milliseconds under a lock that all pods' set-up needs; namespaces that end are
// taken down many at once, a little after their last process.
class Network {
 public:
  struct Options {
    std::string home_key;    // a few letters that name the home
    std::string state_file;  // remembers the block
    std::string pod_range;
    int block_prefix = 22;
    std::string service_range;
  };

  // Finds what an earlier Muster made, or makes it.
  static Result<Network> set_up(const Options& options);

  [[nodiscard]] const std::string& bridge() const { return bridge_; }
  [[nodiscard]] std::string gateway() const { return linux::format_address(block_.base + 1); }
  [[nodiscard]] int prefix() const { return block_.prefix; }

  // An address that no pod has; those used last are given out again last.
  Result<std::string> allocate();
  // False for one that is not of the block.
  bool take(const std::string& address);
  // Of a pod that is gone; given out again when its link is gone too.
  void release(const std::string& address, const std::string& link);

  // The bridge and the routes go, with every link that was released.
  void tear_down();

 private:
  Network(Options options, linux::Netlink netlink)
      : options_(std::move(options)),
        netlink_(std::move(netlink)),
        bridge_("muster" + options_.home_key) {}
  Result<void> choose_block(linux::Range pods);
  Result<void> close_ranges(linux::Range pods);
  std::optional<std::uint32_t> next_free();
  void free_addresses_of_gone_links();

  struct Leaving {
    std::uint32_t address;
    std::string link;
  };

  Options options_;
  linux::Netlink netlink_;
  std::string bridge_;
  linux::Range block_;
  std::uint32_t metric_ = 0;
  std::uint32_t last_ = 1;
  std::set<std::uint32_t> used_;
  std::vector<Leaving> leaving_;  // pods that are gone, whose links may not be
};

// The block of the range that overlaps no route, searched from a start that differs between homes.
// `routes` is /proc/net/route; routes of `own` and those to nowhere do not count.
Result<linux::Range> free_block(linux::Range range, int prefix, std::uint64_t start,
                                std::string_view routes, std::string_view own);

}  // namespace muster::node
