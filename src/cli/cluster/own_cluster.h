#pragma once

#include <string>

#include "cli/context.h"
#include "cluster/kube/config/files.h"

namespace muster::cli {

// Whether a command without flags that say where is about the cluster whose pod it runs in: the
// service account's files are there, and this user has no home of ours. Flags, MUSTER_HOME and
// KUBECONFIG say where; `home_flag` is --home.
bool means_own_cluster(const Context& context, const std::string& home_flag,
                       const cluster::kube::FileReader& files);

}  // namespace muster::cli
