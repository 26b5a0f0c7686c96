#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

// Who we are where we are not root of the machine but of a user namespace.
namespace muster::node::linux {

// Which users or groups a user namespace has: those below `first` + `count` are the machine's from
// `outside` on.
struct IdRange {
  std::int64_t first = 0;
  std::int64_t outside = 0;
  std::int64_t count = 0;
  friend bool operator==(const IdRange&, const IdRange&) = default;
};
using IdMap = std::vector<IdRange>;

// `text` is a uid_map or gid_map of /proc.
IdMap parse_id_map(std::string_view text);
bool contains(const IdMap& map, std::int64_t id);
// Every one there is: no user namespace, or one that hides nothing.
bool is_whole(const IdMap& map);

// Of the calling process.
IdMap own_users();
IdMap own_groups();
bool in_user_namespace();
// In a user namespace that an ordinary user made alone nobody may change whose groups he has: there
// is one, 0.
bool groups_are_fixed();

// The calling process, which has one thread, becomes root of a new user namespace, with a mount and
// a network namespace that belong to it. Nobody but the caller's own user and group is in it. Who
// is root of a user namespace already stays in that one.
Result<void> enter_new_namespaces();
// Those of another process of the same user, but not its network. NotFound: it has just ended.
Result<void> join_user_and_mounts(int pid);
Result<void> join_network(const std::string& file);

}  // namespace muster::node::linux
