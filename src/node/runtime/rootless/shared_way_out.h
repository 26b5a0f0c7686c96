#pragma once

#include <string>

#include "base/error.h"

namespace muster::node {

// Lets who is on a bridge of the network that we are in go out of it by that link, under the link's
// own address, as the machine behind it knows no other. Replaces what was there before.
Result<void> share_way_out(const std::string& link);
// Whether packets of pods are passed on at all.
bool is_way_out_shared();

}  // namespace muster::node
