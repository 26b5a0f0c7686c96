#include "chart.h"

#include "base/version.h"
#include "crd.h"
#include "files.h"
#include "rights.h"

namespace muster::deploy {
namespace {

json::Value chart() {
  return json::Object{{"apiVersion", "v2"},
                      {"name", "muster"},
                      {"description", "The operator of distributed training jobs"},
                      {"type", "application"},
                      {"version", kVersion},
                      {"appVersion", kVersion}};
}

}  // namespace

std::map<std::string, std::string> chart_files(const plan::Registry& registry) {
  std::map<std::string, std::string> files{
      {"Chart.yaml", generated("", chart())},
      {"files/rules.yaml",
       generated("# What the operator may do.\n", json::Object{{"rules", rules_for(registry)}})}};
  json::Object kinds;
  for (const plan::Dialect* dialect : kinds_with_crds(registry)) {
    const api::Resource& resource = dialect->identity().resource;
    kinds.set(resource.qualified(),
              json::Object{{"group", resource.group}, {"plural", resource.plural}});
    files["files/crds/" + resource.qualified() + ".yaml"] = generated("", crd_of(*dialect));
  }
  files["files/kinds.yaml"] = generated("# What values.kinds may name.\n", std::move(kinds));
  return files;
}

}  // namespace muster::deploy
