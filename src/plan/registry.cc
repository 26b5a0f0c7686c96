#include <algorithm>

#include "plan/dialect.h"

namespace muster::plan {

const Dialect* Registry::find(std::string_view api_version, std::string_view kind) const {
  for (const auto& dialect : dialects_) {
    const auto& resource = dialect->identity().resource;
    if (resource.kind == kind && resource.api_version() == api_version) return dialect.get();
  }
  return nullptr;
}

const Dialect* Registry::find(const api::Resource& resource) const {
  for (const auto& dialect : dialects_) {
    if (dialect->identity().resource == resource) return dialect.get();
  }
  return nullptr;
}

}  // namespace muster::plan
