#include "node/linux/user_namespace.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "base/fd.h"
#include "base/strings.h"
#include "node/linux/files.h"

namespace muster::node::linux {

namespace {

constexpr std::int64_t kAllIds = 4'294'967'295;

IdMap map_of(const char* file) {
  const auto text = read_file(file, 65'536);
  return text ? parse_id_map(*text) : IdMap{{.count = kAllIds}};
}

bool is_same(const Fd& one, const char* other) {
  struct stat left{};
  struct stat right{};
  return ::fstat(one.get(), &left) == 0 && ::stat(other, &right) == 0 &&
         left.st_dev == right.st_dev && left.st_ino == right.st_ino;
}

}  // namespace

IdMap parse_id_map(std::string_view text) {
  IdMap map;
  for (const auto line : split(text, '\n')) {
    std::vector<std::int64_t> numbers;
    for (const auto word : split(line, ' ')) {
      const auto number = parse_int(word);
      if (number && *number >= 0 && *number <= kAllIds) numbers.push_back(*number);
    }
    if (numbers.size() == 3 && numbers[2] > 0)
      map.push_back({.first = numbers[0], .outside = numbers[1], .count = numbers[2]});
  }
  return map;
}

bool contains(const IdMap& map, std::int64_t id) {
  return std::ranges::any_of(map, [id](const IdRange& range) {
    return id >= range.first && id - range.first < range.count;
  });
}

bool is_whole(const IdMap& map) {
  return map == IdMap{{.count = kAllIds}};
}

IdMap own_users() {
  return map_of("/proc/self/uid_map");
}

IdMap own_groups() {
  return map_of("/proc/self/gid_map");
}

bool in_user_namespace() {
  return !is_whole(own_users());
}

bool groups_are_fixed() {
  const auto text = read_file("/proc/self/setgroups", 64);
  return text && trim(*text) == "deny";
}

Result<void> enter_new_namespaces() {
  const auto user = std::to_string(::geteuid());
  const auto group = std::to_string(::getegid());
  const bool is_root = ::geteuid() == 0;
  if (::unshare((is_root ? 0 : CLONE_NEWUSER) | CLONE_NEWNS | CLONE_NEWNET) != 0)
    return fail_errno(is_root ? "namespaces" : "a user namespace");
  if (!is_root) {
    TRY(write_existing("/proc/self/setgroups", "deny"));
    TRY(write_existing("/proc/self/gid_map", "0 " + group + " 1"));
    TRY(write_existing("/proc/self/uid_map", "0 " + user + " 1"));
  }
  // What is mounted here is nobody else's affair, and what the machine unmounts is gone here, too.
  if (::mount(nullptr, "/", nullptr, MS_REC | MS_SLAVE, nullptr) != 0)
    return fail_errno("mounts of our own");
  return {};
}

Result<void> join_user_and_mounts(int pid) {
  const auto place = "/proc/" + std::to_string(pid) + "/ns/";
  const Fd user(::open((place + "user").c_str(), O_RDONLY | O_CLOEXEC));
  const Fd mounts(::open((place + "mnt").c_str(), O_RDONLY | O_CLOEXEC));
  if (!user.valid() || !mounts.valid()) return fail(ErrorCode::NotFound, place + " is gone");
  // Nobody may enter the one that he is in.
  if (!is_same(user, "/proc/self/ns/user") && ::setns(user.get(), CLONE_NEWUSER) != 0)
    return fail_errno("join " + place + "user");
  if (::setns(mounts.get(), CLONE_NEWNS) != 0) return fail_errno("join " + place + "mnt");
  return {};
}

Result<void> join_network(const std::string& file) {
  const Fd network(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  if (!network.valid() || ::setns(network.get(), CLONE_NEWNET) != 0)
    return fail_errno("join " + file);
  return {};
}

}  // namespace muster::node::linux
