#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "cluster/kube/config/client_config.h"
#include "cluster/kube/config/files.h"

namespace muster::cluster::kube {

// Whether a kubeconfig may switch off the verification of the server's certificate.
enum class Insecure { Refuse, Allow };

// What a missing file means: --kubeconfig names one that must be there, KUBECONFIG lists
// candidates.
enum class MissingFile { Fail, Skip };

struct KubeconfigOptions {
  std::vector<std::string> paths;
  MissingFile missing = MissingFile::Skip;
  std::string context;  // empty: current-context
  Insecure insecure = Insecure::Refuse;
};

// The files to read, as kubectl chooses them: the flag alone, else the KUBECONFIG list, else
// HOME/.kube/config. All three are handed in.
KubeconfigOptions kubeconfig_files(std::string_view flag, std::string_view environment,
                                   std::string_view home);

// Merges the files (for each entry, and for current-context, the first file that has it wins;
// relative paths are relative to the file that they stand in) and resolves one context into what a
// client needs. Supported credentials: client certificate, token, token file, exec plugin. Anything
// else (auth providers, basic authentication, impersonation) is refused by name.
Result<ClientConfig> load_kubeconfig(const KubeconfigOptions& options, const FileReader& files);

}  // namespace muster::cluster::kube
