#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace muster::agent {

// What a hosts file says of a name, in the order of its lines.
std::vector<std::string> addresses_in_hosts(std::string_view hosts, std::string_view name);

// How this container may be known to others, the most telling first: what its host name resolves to
// by /etc/hosts, then the addresses of its network devices. The resolver is not asked: a pod's own
// name is in its hosts file, and a static program cannot load what an image's resolver is made of.
std::vector<std::string> own_addresses();

}  // namespace muster::agent
