#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

// What of the host no container sees.
namespace muster::node::shim {

// Where containers could see a home, this one's or another; none when there is none. `mounts` is
// what /proc/self/mountinfo says.
std::vector<std::string> hidden_places(const std::string& home, std::string_view mounts);

// Those places as they show where a directory that holds them is mounted, and what homes keep in
// memory. The source has no links in it.
std::vector<std::string> hidden_in(const std::string& source, const std::string& target,
                                   const std::vector<std::string>& hidden);

// An empty directory in its place. Nothing happens where there is none.
Result<void> hide(const std::string& path);

}  // namespace muster::node::shim
