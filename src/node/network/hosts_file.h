#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/resource.h"
#include "base/error.h"
#include "node/network/peer.h"

namespace muster::node {

// The hosts file that the pods of one namespace share: every pod that has an address by its name
// and by its host name, every service by its names, each peer of a headless service. Where a pod
// is in the machine's network, the machine by its own name too.
std::string render_hosts(std::string_view ns, const std::vector<Peer>& pods,
                         const std::vector<api::ObjectPtr>& services,
                         std::string_view cluster_domain, std::string_view host_name = {});

// Replaces the bytes of the file but not the file: containers have this inode mounted.
Result<void> rewrite_in_place(const std::string& path, std::string_view text);

}  // namespace muster::node
