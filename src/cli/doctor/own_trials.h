#pragma once

#include <string>

// What pods have of this machine where nobody is its root, tried as they would be run.
namespace muster::cli {

struct OwnTrials {
  std::string namespaces;  // why they are refused; empty: they work
  std::string way_out;     // the program that carries connections out of the machine; empty: none
  std::string no_way_out;  // why those that are installed do not, or not for all pods
};

// By a process of its own, with whose end everything goes that it made. Blocks for some 30 ms;
// `path` is where programs are looked for.
OwnTrials try_without_root(const std::string& path);

}  // namespace muster::cli
