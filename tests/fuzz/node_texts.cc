// What a node reads of the kernel, of programs beside it and of whoever calls it, as any bytes. The
// first line is also a second word where two are needed.
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "base/check.h"
#include "base/time.h"
#include "node/agent/gpu_usage.h"
#include "node/agent/taint.h"
#include "node/exec/exec_endpoint.h"
#include "node/linux/netlink.h"
#include "node/linux/usage.h"
#include "node/linux/user_namespace.h"
#include "node/logs/log_endpoint.h"
#include "node/pod/container/expand.h"
#include "node/runtime/network.h"
#include "node/shim/root/mounts.h"

using namespace muster;
using namespace muster::node;

namespace {

void kernel_files(std::string_view text, std::string_view word) {
  (void)shim::top_mount_points(text);
  (void)shim::mount_points(text);
  (void)shim::places_of(std::string(word), text);
  (void)linux::ticks_in(text);
  (void)linux::counter_in(text, word);
  const auto ids = linux::parse_id_map(text);
  CHECK(ids.empty() || linux::contains(ids, ids.front().first));
  (void)linux::is_whole(ids);
  const linux::Range all{.base = 0x0AD00000U, .prefix = 16};
  const auto block = free_block(all, 20, text.size(), text, word);
  CHECK(!block || all.contains(block->base));
}

void addresses(std::string_view text) {
  if (const auto address = linux::parse_address(text)) {
    CHECK(linux::parse_address(linux::format_address(*address)).value() == *address);
  }
  if (const auto range = linux::parse_range(text)) CHECK(range->contains(range->base));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::string_view word = text.substr(0, text.find('\n'));
  kernel_files(text, word);
  addresses(text);
  (void)usage_by_container(text, parse_gpu_usage(text));
  if (const auto taint = parse_taint(text)) CHECK(!taint->key.empty() && !taint->effect.empty());
  (void)parse_exec_request(text);
  (void)parse_log_request(text, Time{});
  const std::map<std::string, std::string> variables = {{"A", "$(A)"}, {"B", ""}};
  CHECK(expand(text, variables).size() <= 4 * text.size());
  CHECK(expand_all({std::string(text)}, variables)[0] == expand(text, variables));
  return 0;
}
