#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "api/resource.h"
#include "base/error.h"
#include "json/value.h"
#include "node/pod/container/downward.h"
#include "node/pod/container/references.h"
#include "node/runtime/runtime.h"

// Volumes as directories on this machine. Plain functions on the file system, for DiskWork; tokens
// and objects come from outside, because asking for them takes a while.
namespace muster::node {

// Where a volume lies, or that each container gets an empty memory file system of its own.
struct VolumeSource {
  std::string path;  // without links
  bool tmpfs = false;
  std::uint64_t tmpfs_bytes = 0;
  bool read_only = false;
};

// By volume and path within it.
using VolumeTokens = std::map<std::pair<std::string, std::string>, std::string>;
using VolumeSources = std::map<std::string, VolumeSource>;
// A claim that the pod mounts and the volume that it is bound to; null where there is none.
struct Claimed {
  api::ObjectPtr claim;
  api::ObjectPtr volume;
};
using ClaimedVolumes = std::map<std::string, Claimed>;  // by the claim's name
// The claims that a pod's volumes name.
std::set<std::string> claims_of(const json::Value& pod);

struct VolumeInput {
  const json::Value& pod;
  const Place& place;
  const Lookup& lookup;
  const VolumeTokens& tokens;
  const ClaimedVolumes& claimed;
  std::string home;              // no hostPath leads into it; may be empty
  std::string directory;         // of this pod's volumes
  std::string memory_directory;  // the same on a memory file system, for secrets
};

// Makes or refreshes one volume. NotFound: a ConfigMap, Secret, key or claim is missing yet;
// Invalid: this node does not know the type, or the path is not of the type that was asked for.
Result<VolumeSource> make_volume(const VolumeInput& input, const json::Value& volume);

// Whatever lies at these paths goes; what is not there is gone already.
Result<void> remove_trees(const std::vector<std::string>& paths);

// True for volumes whose content follows what it was made from.
bool is_refreshed(const json::Value& volume);

// All that the volumes of a pod are made of, as a value.
struct VolumeWork {
  enum class Which { All, Refreshed };

  api::ObjectPtr pod;
  Place place;
  ReferencedObjects objects;
  VolumeTokens tokens;
  ClaimedVolumes claimed;
  std::string home;
  std::string directory;
  std::string memory_directory;
  Which which = Which::All;
};
// Makes or refreshes them in the order of the manifest, and gives those that it made. The first
// error ends it.
Result<VolumeSources> make_volumes(const VolumeWork& work);

// A service-account token that a projected volume wants.
struct TokenWish {
  std::string volume;
  std::string path;
  std::string audience;  // empty: the API server's own
  std::int64_t expiration_seconds = 3600;
};
std::vector<TokenWish> token_wishes(const json::Value& pod);

// The container's volumeMounts as the runtime takes them, subPath checked (and made where it is
// missing). subPathExpr is expanded with `variables`.
Result<std::vector<Mount>> container_mounts(const json::Value& container,
                                            const VolumeSources& volumes,
                                            const std::map<std::string, std::string>& variables);

}  // namespace muster::node
