#pragma once

#include <string>
#include <vector>

#include "api/resource.h"
#include "base/error.h"
#include "json/value.h"
#include "plan/dialect.h"

namespace muster::cli {

// One object of a manifest file.
struct Manifest {
  std::string source;  // job.yaml:12
  api::Resource resource;
  const plan::Dialect* dialect = nullptr;  // of a job kind
  json::Value object;
};

enum class TargetKind { Embedded, Kubernetes };

// Reads files ("-" is standard input) and checks every document: a known kind, a name, and for jobs
// that we run there everything that the dialect checks. All or nothing.
Result<std::vector<Manifest>> load_manifests(const std::vector<std::string>& files,
                                             const plan::Registry& registry, const std::string& ns,
                                             TargetKind target);

}  // namespace muster::cli
