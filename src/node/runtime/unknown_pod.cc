#include "node/runtime/unknown_pod.h"

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "base/strings.h"
#include "node/linux/files.h"
#include "node/linux/netlink.h"
#include "node/linux/process.h"
#include "node/runtime/pod_directory.h"
#include "node/shim/records.h"

namespace muster::node {

namespace {

constexpr int kEndMilliseconds = 10'000;

bool holds_open(int pid, const struct stat& lock) {
  // A shim has its lock at descriptor 3; nobody else is called so and has.
  const auto process = "/proc/" + std::to_string(pid);
  const auto name = linux::read_file(process + "/comm", 64);
  struct stat open{};
  return name && *name == "muster-shim\n" && ::stat((process + "/fd/3").c_str(), &open) == 0 &&
         open.st_dev == lock.st_dev && open.st_ino == lock.st_ino;
}

}  // namespace

std::vector<linux::ProcessIdentity> find_shims(const std::string& directory) {
  if (const auto bytes = linux::read_file(directory + "/shim")) {
    const auto identity = shim::decode<linux::ProcessIdentity>(*bytes);
    if (identity && linux::is_alive(*identity)) return {*identity};
  }
  std::vector<linux::ProcessIdentity> found;
  struct stat lock{};
  if (::stat((directory + "/lock").c_str(), &lock) != 0) return found;
  std::error_code error;
  for (std::filesystem::directory_iterator it("/proc", error), end; !error && it != end;
       it.increment(error)) {
    const auto pid = parse_int(it->path().filename().string());
    if (!pid || !holds_open(static_cast<int>(*pid), lock)) continue;
    found.push_back(linux::identity_of(static_cast<int>(*pid)));
  }
  return found;
}

std::vector<std::uint32_t> local_addresses(std::string_view fib_trie) {
  std::vector<std::uint32_t> found;
  std::uint32_t last = 0;
  for (const auto line : split(fib_trie, '\n')) {
    constexpr std::string_view kLeaf = "|-- ";
    if (const auto at = line.find(kLeaf); at != std::string_view::npos) {
      last = linux::parse_address(line.substr(at + kLeaf.size())).value_or(0);
    } else if (line.ends_with("/32 host LOCAL") && last != 0) {
      found.push_back(last);
    }
  }
  std::ranges::sort(found);
  const auto twice = std::ranges::unique(found);  // each is in the main and in the local table
  found.erase(twice.begin(), twice.end());
  return found;
}

std::vector<std::uint32_t> addresses_of(const linux::ProcessIdentity& process) {
  const auto text = linux::read_file("/proc/" + std::to_string(process.pid) + "/net/fib_trie");
  return text ? local_addresses(*text) : std::vector<std::uint32_t>{};
}

Result<void> end_unknown_pod(const std::string& directory, const linux::Cgroup& cgroup) {
  for (int waited = 0;; ++waited) {
    const auto lock = TRY(lock_pod(directory));
    if (lock.valid()) break;
    if (waited >= kEndMilliseconds) {
      return fail(ErrorCode::Timeout, "the shim of " + directory + " does not end");
    }
    // Looked for again and again: one may just have been forked.
    if (waited % 1000 == 0) {
      for (const auto& shim : find_shims(directory)) linux::signal_process(shim, SIGKILL);
    }
    ::usleep(1000);
  }
  for (int i = 0; i < kEndMilliseconds && !cgroup.kill(); ++i) ::usleep(1000);
  if (!shim::await_end(directory, kEndMilliseconds) || !cgroup.processes().empty()) {
    return fail(ErrorCode::Timeout, "processes of " + directory + " do not end");
  }
  cgroup.remove();
  return {};
}

}  // namespace muster::node
