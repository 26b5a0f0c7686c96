#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "base/fd.h"
#include "node/runtime/types.h"
#include "node/shim/root/mounts.h"
#include "node/shim/root/places.h"

// Copy-on-write views of directories.
namespace muster::node::shim {

// An overlay for what a container writes and nobody keeps, mounted nowhere.
Result<Fd> lay_over(const Overlay& what);

// Beside upper/, where there is one view for each directory: the paths of the links and empty files
// in upper/ that were made for that, a line each.
inline constexpr const char* kMadeFile = "made";

// Whether every container has an own file system or directory there, or the path is in one.
bool is_made_anew(const std::string& path);

// A container's root, mounted nowhere; what is written to it is in upper/ of the working directory,
// at the path that it has in the container.
struct Layers {
  Fd tree;
  std::vector<std::string> views;  // mounts that it consists of, beside its own
};
// The calling process may get a mount namespace of its own. What a view of the machine lacks for
// `places` is made below what is written, in the directory `places_layer`, not in upper/.
Result<Layers> make_layers(const RootFilesystem& root, const std::vector<Place>& places,
                           const std::string& places_layer);

}  // namespace muster::node::shim
