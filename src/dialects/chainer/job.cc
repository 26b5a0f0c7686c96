#include "dialects/chainer/job.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "dialects/mpi/setup.h"

namespace muster::dialects::chainer {
namespace {

constexpr std::string_view kAliasedSet = "worker";  // the set that spec.worker is

// Callers of decode() may not have validated: a number that no int holds must not wrap.
int read_count(const json::Value& value, int otherwise) {
  if (!value.is_int()) return otherwise;
  return static_cast<int>(
      std::clamp<std::int64_t>(value.as_int(), 0, std::numeric_limits<std::int32_t>::max() / 16));
}

void name_container(json::Value& role) {
  const json::Value& containers = std::as_const(role)["template"]["spec"]["containers"];
  if (containers.as_array().size() != 1 || !containers[0].is_object()) return;
  const json::Value& name = containers[0]["name"];
  if (!name.is_null() && name != "") return;
  role["template"]["spec"]["containers"].array()[0]["name"] = kContainer;
}

}  // namespace

int Job::workers() const {
  return std::accumulate(sets.begin(), sets.end(), 0,
                         [](int sum, const WorkerSet& set) { return sum + set.replicas; });
}

std::string Job::stem(const WorkerSet& set) const {
  return fmt::format("{}-workerset-{}", ref.name, set.name);
}

json::Value with_container_names(json::Value job) {
  const json::Value written = std::as_const(job)["spec"];
  for (const std::string_view role : {"master", "worker"}) {
    if (written[role]["template"]["spec"].is_object()) name_container(job["spec"][role]);
  }
  if (!written["workerSets"].is_object()) return job;
  for (auto& [name, set] : job["spec"]["workerSets"].object()) {
    if (std::as_const(set)["template"]["spec"].is_object()) name_container(set);
  }
  return job;
}

Job decode(const api::Resource& resource, const json::Value& job) {
  Job out{.object = &job, .ref = plan::job_ref(resource, job)};
  const auto add = [&](const std::string& name, const Path& path, const json::Value& spec) {
    if (!spec.is_object()) return;
    out.sets.push_back(
        {.name = name, .path = path, .spec = &spec, .replicas = read_count(spec["replicas"], 1)});
  };
  for (const auto& [name, set] : out.spec()["workerSets"].as_object()) {
    add(name, Path("spec.workerSets") / name, set);
  }
  add(std::string(kAliasedSet), Path("spec.worker"), out.spec()["worker"]);
  std::ranges::sort(out.sets, {}, &WorkerSet::name);
  return out;
}

std::optional<std::size_t> find_container(const json::Value& role) {
  const json::Array& containers = role["template"]["spec"]["containers"].as_array();
  const auto found = std::ranges::find_if(containers, [](const json::Value& container) {
    return container["name"].as_string() == kContainer;
  });
  if (found == containers.end()) return std::nullopt;
  return static_cast<std::size_t>(found - containers.begin());
}

int slots_of(const json::Value& role) {
  const json::Value& containers = role["template"]["spec"]["containers"];
  return read_count(role["mpiConfig"]["slots"],
                    mpi::slots_by_gpu(containers[find_container(role).value_or(0)]));
}

}  // namespace muster::dialects::chainer
