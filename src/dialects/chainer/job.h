#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dialects/check/findings.h"
#include "json/value.h"
#include "plan/plan.h"

// A ChainerJob as it was meant: names and sets filled in. In memory only.
namespace muster::dialects::chainer {

inline constexpr std::string_view kMaster = "master";
inline constexpr std::string_view kContainer = "chainer";

struct WorkerSet {
  std::string name;
  Path path;
  const json::Value* spec = nullptr;
  int replicas = 1;
};

// Lives no longer than the object it was decoded from.
struct Job {
  const json::Value* object = nullptr;
  plan::JobRef ref;
  std::vector<WorkerSet> sets;  // in the order of their names

  [[nodiscard]] const json::Value& spec() const { return (*object)["spec"]; }
  [[nodiscard]] const json::Value& master() const { return spec()["master"]; }
  // Else the master trains alone.
  [[nodiscard]] bool is_distributed() const { return !sets.empty(); }
  [[nodiscard]] int workers() const;
  [[nodiscard]] std::string service() const { return ref.name + "-mpi"; }
  // Of the names of a set's pods.
  [[nodiscard]] std::string stem(const WorkerSet& set) const;
};

// The only container of a template needs no name: here it has one. The stored object stays as its
// user wrote it.
json::Value with_container_names(json::Value job);

// Total: what is not as it should be reads as its default. Validation is somewhere else.
Job decode(const api::Resource& resource, const json::Value& job);

// Of the master or a set: which of its containers is the one that counts, and how many ranks Open
// MPI may start in one of its pods.
std::optional<std::size_t> find_container(const json::Value& role);
int slots_of(const json::Value& role);

}  // namespace muster::dialects::chainer
