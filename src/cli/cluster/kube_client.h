#pragma once

#include <memory>

#include "cli/context.h"
#include "cluster/fence.h"
#include "cluster/kube/client_config.h"
#include "cluster/kube/kube_cluster.h"

namespace muster::cli {

// The cluster that the flags and the environment name: --kubeconfig, KUBECONFIG, ~/.kube/config, or
// inside a pod the service account's.
Result<cluster::kube::ClientConfig> client_config(const Context& context);

// `fence` may be null; it outlives the cluster.
Result<std::unique_ptr<cluster::kube::KubeCluster>> open_kube(
    Context& context, const cluster::kube::ClientConfig& config, const cluster::Fence* fence);

}  // namespace muster::cli
