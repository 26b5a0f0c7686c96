#include "dialects/t9k_mpi/launcher.h"

#include <algorithm>
#include <set>

#include "api/object.h"

namespace muster::dialects::t9k_mpi {
namespace {

const json::Value& main_of(const Job& job) {
  return job.worker.pod()["spec"]["containers"][*job.main_container()];
}

// Extended resources have a prefix: nvidia.com/gpu. The launcher computes nothing.
void remove_extended(json::Value& container) {
  for (const std::string_view list : {"requests", "limits"}) {
    const json::Object written = std::as_const(container)["resources"][list].as_object();
    for (const auto& [name, amount] : written) {
      if (name.find('/') != std::string::npos) container["resources"][list].object().erase(name);
    }
    if (!written.empty() && std::as_const(container)["resources"][list].as_object().empty()) {
      container["resources"].object().erase(list);
    }
  }
  const json::Value& left = std::as_const(container)["resources"];
  if (left.is_object() && left.as_object().empty()) container.object().erase("resources");
}

// What speaks of a server in the worker is not true of the launcher.
json::Value copy_of_main(const Job& job) {
  json::Value out = main_of(job);
  for (const std::string_view member :
       {"command", "args", "ports", "livenessProbe", "readinessProbe", "startupProbe",
        "terminationMessagePath", "terminationMessagePolicy"}) {
    out.object().erase(member);
  }
  out["name"] = kLauncher;
  remove_extended(out);
  return out;
}

json::Value copy_of_worker(const Job& job) {
  json::Value out = job.worker.pod();
  out["spec"]["containers"] = json::Array{copy_of_main(job)};
  if (!std::as_const(out)["spec"]["initContainers"].as_array().empty()) {
    for (json::Value& container : out["spec"]["initContainers"].array()) remove_extended(container);
  }
  if (job.launcher.spec == nullptr) return out;
  // A template without containers may still say where the launcher is to run.
  for (const auto& [member, value] : job.launcher.pod()["spec"].as_object()) {
    if (member != "containers") out["spec"][member] = value;
  }
  if (!job.launcher.pod()["metadata"].is_null()) out["metadata"] = job.launcher.pod()["metadata"];
  return out;
}

json::Value own_template(const Job& job) {
  json::Value out = job.launcher.pod();
  for (json::Value& container : out["spec"]["containers"].array()) {
    if (std::as_const(container)["name"].as_string() != kLauncher) continue;
    for (const std::string_view member : {"image", "workingDir"}) {
      const json::Value& usual = main_of(job)[member];
      if (std::as_const(container)[member].is_null() && !usual.is_null()) container[member] = usual;
    }
  }
  return out;
}

// A variable that says something of its own pod is that pod's.
bool is_shared(const json::Value& variable) {
  const json::Value& from = variable["valueFrom"];
  return from["fieldRef"].is_null() && from["resourceFieldRef"].is_null();
}

// What the launcher hands on of its environment: what workers have too.
std::vector<std::string> forwarded(const Job& job) {
  const json::Value pod = launcher_template(job);
  const json::Value& here = pod["spec"]["containers"][launcher_container(pod)]["env"];
  std::vector<std::string> out;
  std::set<std::string> seen;
  for (const json::Value& variable : main_of(job)["env"].as_array()) {
    const std::string& name = variable["name"].as_string();
    if (!is_shared(variable) || api::find_named(here, name) == nullptr) continue;
    if (seen.insert(name).second) out.push_back(name);
  }
  return out;
}

}  // namespace

bool has_own_launcher(const Job& job) {
  return job.launcher.spec != nullptr &&
         !job.launcher.pod()["spec"]["containers"].as_array().empty();
}

json::Value launcher_template(const Job& job) {
  return has_own_launcher(job) ? own_template(job) : copy_of_worker(job);
}

std::size_t launcher_container(const json::Value& pod_template) {
  const json::Array& containers = pod_template["spec"]["containers"].as_array();
  const auto found = std::ranges::find_if(containers, [](const json::Value& container) {
    return container["name"].as_string() == kLauncher;
  });
  return found == containers.end() ? 0 : static_cast<std::size_t>(found - containers.begin());
}

std::vector<std::string> mpirun_command(const Job& job) {
  std::vector<std::string> out;
  if (job.mpi_home.empty()) {
    out = {"mpirun"};
  } else {
    out = {job.mpi_home + "/bin/mpirun", "--prefix", job.mpi_home};
  }
  out.insert(out.end(), {"--hostfile", std::string(kHostFile)});
  for (const auto& [name, value] : job.mca) out.insert(out.end(), {"--mca", name, value});
  for (const std::string& name : forwarded(job)) out.insert(out.end(), {"-x", name});
  out.insert(out.end(), job.mpi_args.begin(), job.mpi_args.end());
  out.insert(out.end(), job.program.begin(), job.program.end());
  return out;
}

}  // namespace muster::dialects::t9k_mpi
