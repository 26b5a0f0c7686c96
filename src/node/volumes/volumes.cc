#include "node/volumes/volumes.h"

#include <fcntl.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "api/object.h"
#include "api/quantity.h"
#include "base/strings.h"
#include "node/linux/beneath.h"
#include "node/pod/container/expand.h"
#include "node/volumes/atomic_directory.h"
#include "node/volumes/group.h"
#include "node/volumes/on_host.h"

namespace muster::node {

namespace {

namespace fs = std::filesystem;

constexpr mode_t kDefaultMode = 0644;

mode_t mode_of(const json::Value& value, mode_t otherwise) {
  if (!value.is_int()) return otherwise;
  return static_cast<mode_t>(value.as_int()) & 07777U;
}

// --- files from objects

// Where a source puts its files, and with which bits.
struct FileTarget {
  Payload& payload;
  mode_t default_mode;
};

Result<void> add_object(const FileTarget& target, const VolumeInput& input,
                        const json::Value& source, Reference reference) {
  const bool optional = source["optional"].as_bool();
  const auto object = input.lookup(reference);
  if (!object) {
    if (optional) return {};
    return fail(not_found(reference));
  }
  const auto put = [&](const std::string& path, std::string bytes, mode_t mode) {
    target.payload[path] = {.bytes = std::move(bytes), .mode = mode};
  };
  const auto& items = source["items"].as_array();
  if (items.empty()) {
    for (const char* field : {"data", "binaryData"}) {
      for (const auto& [key, unused] : (*object)[field].as_object()) {
        if (auto bytes = value_at(*object, reference.kind, key)) {
          put(key, std::move(*bytes), target.default_mode);
        }
      }
    }
    return {};
  }
  for (const auto& item : items) {
    const auto& key = item["key"].as_string();
    auto bytes = value_at(*object, reference.kind, key);
    if (!bytes) {
      if (optional) continue;
      return fail(ErrorCode::NotFound,
                  fmt::format("references non-existent {} key: {}",
                              reference.kind == ReferenceKind::Secret ? "secret" : "config", key));
    }
    put(item["path"].as_string(), std::move(*bytes), mode_of(item["mode"], target.default_mode));
  }
  return {};
}

Result<void> add_downward(const FileTarget& target, const VolumeInput& input,
                          const json::Value& source) {
  for (const auto& item : source["items"].as_array()) {
    std::string value;
    if (item["fieldRef"].is_object()) {
      value = TRY(field_value(input.pod, item["fieldRef"]["fieldPath"].as_string(), input.place));
    } else {
      value = TRY(resource_field_value(input.pod, item["resourceFieldRef"], "", input.place));
    }
    target.payload[item["path"].as_string()] = {.bytes = std::move(value),
                                                .mode = mode_of(item["mode"], target.default_mode)};
  }
  return {};
}

Result<void> add_projected(const FileTarget& target, const VolumeInput& input,
                           const json::Value& volume, const json::Value& source) {
  if (source["configMap"].is_object()) {
    return add_object(
        target, input, source["configMap"],
        {.kind = ReferenceKind::ConfigMap, .name = source["configMap"]["name"].as_string()});
  }
  if (source["secret"].is_object()) {
    return add_object(
        target, input, source["secret"],
        {.kind = ReferenceKind::Secret, .name = source["secret"]["name"].as_string()});
  }
  if (source["downwardAPI"].is_object()) return add_downward(target, input, source["downwardAPI"]);
  if (source["serviceAccountToken"].is_object()) {
    const auto& path = source["serviceAccountToken"]["path"].as_string();
    const auto token = input.tokens.find({volume["name"].as_string(), path});
    if (token == input.tokens.end()) {
      return fail(ErrorCode::NotFound, "the service account token was not issued yet");
    }
    target.payload[path] = {.bytes = token->second, .mode = target.default_mode};
    return {};
  }
  return fail(ErrorCode::Invalid, "projected source of a type that this node does not know");
}

Result<VolumeSource> file_volume(const VolumeInput& input, const json::Value& volume) {
  Payload payload;
  const auto with_mode = [&payload](const json::Value& source) {
    return FileTarget{.payload = payload,
                      .default_mode = mode_of(source["defaultMode"], kDefaultMode)};
  };
  bool secret = false;
  if (const auto& map = volume["configMap"]; map.is_object()) {
    TRY(add_object(with_mode(map), input, map,
                   {.kind = ReferenceKind::ConfigMap, .name = map["name"].as_string()}));
  } else if (const auto& hidden = volume["secret"]; hidden.is_object()) {
    secret = true;
    TRY(add_object(with_mode(hidden), input, hidden,
                   {.kind = ReferenceKind::Secret, .name = hidden["secretName"].as_string()}));
  } else if (const auto& downward = volume["downwardAPI"]; downward.is_object()) {
    TRY(add_downward(with_mode(downward), input, downward));
  } else {
    secret = true;  // tokens, or secrets among others
    const auto& projected = volume["projected"];
    for (const auto& source : projected["sources"].as_array()) {
      TRY(add_projected(with_mode(projected), input, volume, source));
    }
  }
  give_to_group(payload, input.pod);
  const auto& base = secret ? input.memory_directory : input.directory;
  // The way to it is closed for other users of the machine; inside a container only the end is
  // seen.
  TRY(make_directory(base, 0700));
  const auto path = base + "/" + volume["name"].as_string();
  TRY(write_atomic_directory(path, payload));
  return VolumeSource{.path = TRY(real_path(path)), .read_only = true};
}

// --- emptyDir

std::size_t mounts_of(const json::Value& pod, const std::string& volume) {
  std::size_t count = 0;
  for (const char* list : {"initContainers", "containers"}) {
    for (const auto& container : pod["spec"][list].as_array()) {
      const auto& mounts = container["volumeMounts"].as_array();
      count += static_cast<std::size_t>(std::ranges::count_if(
          mounts, [&](const json::Value& m) { return m["name"].as_string() == volume; }));
    }
  }
  return count;
}

Result<VolumeSource> empty_dir(const VolumeInput& input, const json::Value& volume) {
  const auto& source = volume["emptyDir"];
  const auto& name = volume["name"].as_string();
  const bool memory = source["medium"].as_string() == "Memory";
  // A bounded one that only one mount sees can have a file system of its own; one that is shared is
  // a directory, bounded by the memory limit of whoever writes.
  if (memory && !source["sizeLimit"].is_null() && mounts_of(input.pod, name) <= 1) {
    const auto limit = TRY(api::Quantity::from(source["sizeLimit"]));
    const auto bytes = std::max<std::int64_t>(0, limit.whole());
    return VolumeSource{.tmpfs = true, .tmpfs_bytes = static_cast<std::uint64_t>(bytes)};
  }
  const auto& base = memory ? input.memory_directory : input.directory;
  TRY(make_directory(base, 0700));
  const auto path = base + "/" + name;
  TRY(make_directory(path, 0777));
  return VolumeSource{.path = TRY(real_path(path))};
}

}  // namespace

Result<VolumeSource> make_volume(const VolumeInput& input, const json::Value& volume) {
  if (const auto& source = volume["hostPath"]; source.is_object()) {
    return host_path(source, {.home = input.home});
  }
  if (is_refreshed(volume)) return file_volume(input, volume);
  if (volume["emptyDir"].is_object()) return empty_dir(input, volume);
  if (const auto& claim = volume["persistentVolumeClaim"]; claim.is_object())
    return claimed_volume(input, claim);
  std::string type = "none";
  for (const auto& [key, value] : volume.as_object()) {
    if (key != "name") type = key;
  }
  if (type == "none") return empty_dir(input, volume);  // Kubernetes' own default
  return fail(
      ErrorCode::Invalid,
      fmt::format("volume {} is of type {}, which this node does not have; use hostPath, "
                  "emptyDir, persistentVolumeClaim, configMap, secret, projected or downwardAPI",
                  volume["name"].as_string(), type));
}

Result<VolumeSources> make_volumes(const VolumeWork& work) {
  const auto find = lookup_in(work.objects);
  const VolumeInput input{.pod = *work.pod,
                          .place = work.place,
                          .lookup = find,
                          .tokens = work.tokens,
                          .claimed = work.claimed,
                          .home = work.home,
                          .directory = work.directory,
                          .memory_directory = work.memory_directory};
  VolumeSources out;
  for (const auto& volume : (*work.pod)["spec"]["volumes"].as_array()) {
    if (work.which == VolumeWork::Which::Refreshed && !is_refreshed(volume)) continue;
    const auto& name = volume["name"].as_string();
    auto made = make_volume(input, volume);
    if (!made) {
      return fail(made.error().in(fmt::format("MountVolume.SetUp failed for volume \"{}\"", name)));
    }
    TRY(give_to_group(*made, volume, *work.pod));
    out[name] = std::move(*made);
  }
  return out;
}

Result<void> remove_trees(const std::vector<std::string>& paths) {
  Result<void> out;
  for (const auto& path : paths) {
    std::error_code error;
    fs::remove_all(path, error);
    if (error) out = fail(ErrorCode::Io, fmt::format("remove {}: {}", path, error.message()));
  }
  return out;
}

bool is_refreshed(const json::Value& volume) {
  return volume["configMap"].is_object() || volume["secret"].is_object() ||
         volume["projected"].is_object() || volume["downwardAPI"].is_object();
}

std::vector<TokenWish> token_wishes(const json::Value& pod) {
  std::vector<TokenWish> out;
  for (const auto& volume : pod["spec"]["volumes"].as_array()) {
    for (const auto& source : volume["projected"]["sources"].as_array()) {
      const auto& token = source["serviceAccountToken"];
      if (!token.is_object()) continue;
      out.push_back({.volume = volume["name"].as_string(),
                     .path = token["path"].as_string(),
                     .audience = token["audience"].as_string(),
                     .expiration_seconds = token["expirationSeconds"].as_int(3600)});
    }
  }
  return out;
}

namespace {

Result<void> make_sub_path(const std::string& volume, const std::string& below) {
  using linux::Walk;
  const auto root = TRY(linux::open_exact(volume, O_PATH));
  // A file that is there is mounted as it is.
  if (linux::open_within(root.get(), below, O_PATH, Walk::Beneath)) return {};
  TRY(linux::make_directories_within(root.get(), below, 0755, Walk::Beneath));
  return {};
}

// What is missing is made; whether it leads out of the volume, the kernel says, now and once more
// when it is mounted.
Result<void> check_sub_path(const std::string& volume, const std::string& below) {
  const auto parts = split(below, '/');
  const bool inside = !below.starts_with('/') && std::ranges::find(parts, "..") == parts.end();
  const auto made = inside ? make_sub_path(volume, below) : fail(ErrorCode::Invalid, "");
  if (made) return {};
  if (made.error().code != ErrorCode::Invalid) return fail(made.error().in("subPath"));
  return fail(ErrorCode::Invalid,
              fmt::format("subPath \"{}\" leaves its volume", printable(below)));
}

}  // namespace

Result<std::vector<Mount>> container_mounts(const json::Value& container,
                                            const VolumeSources& volumes,
                                            const std::map<std::string, std::string>& variables) {
  std::vector<Mount> out;
  for (const auto& wanted : container["volumeMounts"].as_array()) {
    const auto found = volumes.find(wanted["name"].as_string());
    if (found == volumes.end()) {
      return fail(ErrorCode::Invalid,
                  fmt::format("volumeMounts names \"{}\", which is not a volume "
                              "of the pod",
                              wanted["name"].as_string()));
    }
    const auto& source = found->second;
    Mount mount{.source = source.path,
                .target = wanted["mountPath"].as_string(),
                .read_only = source.read_only || wanted["readOnly"].as_bool()};
    if (!mount.target.starts_with('/')) mount.target.insert(0, "/");
    if (source.tmpfs) {
      mount.kind = Mount::Kind::Tmpfs;
      mount.size = source.tmpfs_bytes;
    }
    auto below = wanted["subPath"].as_string();
    if (below.empty()) below = expand(wanted["subPathExpr"].as_string(), variables);
    if (!below.empty() && !source.tmpfs) {
      TRY(check_sub_path(source.path, below));
      mount.below = std::move(below);
    }
    out.push_back(std::move(mount));
  }
  return out;
}

}  // namespace muster::node
