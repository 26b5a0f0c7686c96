#pragma once

#include <memory>
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
  // Where it was read: the file, its text, and which of its documents.
  std::string file;
  std::shared_ptr<const std::string> text;
  std::size_t document = 0;

  // A job or a pod: something that is followed to its end.
  [[nodiscard]] bool runs() const { return dialect != nullptr || resource == api::pods(); }
};

enum class TargetKind { Embedded, Kubernetes };

// The documents of files (directories, "-" for standard input): of a known kind, and not looked at
// any further. `others` are files that are known to be no manifests.
Result<std::vector<Manifest>> read_manifests(const std::vector<std::string>& named,
                                             const plan::Registry& registry,
                                             const std::vector<std::string>& others = {});

// Everything wrong with one that is to run there: a name, and for jobs that we run everything that
// the dialect checks. The namespace is filled in.
Result<void> check_manifest(Manifest& manifest, const std::string& ns, TargetKind target);

// Both. All or nothing.
Result<std::vector<Manifest>> load_manifests(const std::vector<std::string>& named,
                                             const plan::Registry& registry, const std::string& ns,
                                             TargetKind target);

}  // namespace muster::cli
