#pragma once

#include <optional>
#include <string>

#include "json/value.h"
#include "node/linux/user_namespace.h"

// What a node can do for its pods, found out by trying. As root everything; as an ordinary user
// what a user namespace and what others left to the user allow.
namespace muster::node {

struct Tier {
  bool root = true;
  bool limits = true;  // there is a cgroup that we may write to
  linux::IdMap users;  // that exist; without root
  linux::IdMap groups;
  std::string way_out;     // the program that carries pods' connections out of the machine
  bool all_go_out = true;  // and not only of those with hostNetwork
  std::string no_way_out;  // why programs that are installed for it do not
  friend bool operator==(const Tier&, const Tier&) = default;
};

// Of the calling process, once it is where its pods shall be.
Tier find_tier(const std::string& home_key);

// One line for whoever starts pods; empty for root.
std::string describe(const Tier& tier);

// The first field of the pod that cannot be obeyed in that tier, and what would be right.
std::optional<std::string> refusal_in(const Tier& tier, const json::Value& pod);

inline constexpr const char* kDeclinedReason = "LimitsDeclined";
// Which limits of the pod have no effect in that tier, as a message; empty: all have.
std::string declined_in(const Tier& tier, const json::Value& pod);

}  // namespace muster::node
