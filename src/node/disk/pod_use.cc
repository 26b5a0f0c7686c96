#include "node/disk/pod_use.h"

#include "api/object.h"
#include "node/runtime/written_files.h"

namespace muster::node {

std::map<std::string, VolumeDiskUse> volume_use(const api::ObjectPtr& pod,
                                                const VolumePlaces& places) {
  std::map<std::string, VolumeDiskUse> out;
  for (const auto& volume : (*pod)["spec"]["volumes"].as_array()) {
    if (!volume["emptyDir"].is_object()) continue;
    const bool in_memory = volume["emptyDir"]["medium"].as_string() == "Memory";
    const auto& name = volume["name"].as_string();
    const auto place = (in_memory ? places.memory : places.disk) + "/" + api::uid_of(*pod);
    out[name] = {.use = linux::disk_use(place + "/" + name, kMostMeasuredFiles),
                 .in_memory = in_memory};
  }
  return out;
}

}  // namespace muster::node
