#pragma once

#include <string>

#include "base/error.h"

// A node without root lives in a user namespace of its owner, with mounts and a network of its own.
// They are as old as the oldest pod in them: a node that starts again while pods of its home run
// goes back to where those are, and when there are none, what there was is gone with them.
namespace muster::node {

// Whether this process is not root of the machine: an ordinary user, or root of a user namespace
// that somebody else made, whose network is not its own.
bool needs_own_namespaces();

// Does nothing for root of the machine. To be called by a process with one thread that has the home
// to itself, before create_runtime(). Forbidden, with what the machine refused, where it cannot be.
Result<void> enter_own_namespaces(const std::string& home);

// The network lies by name beside the pods' records, for who goes back to it, until the last of
// them is gone. Does nothing where it is the machine's.
Result<void> keep_own_network(const std::string& home_key);
void forget_own_network(const std::string& home_key);

}  // namespace muster::node
