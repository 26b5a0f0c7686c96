#pragma once

#include <memory>
#include <string>

#include "cli/context.h"
#include "cluster/kube/config/client_config.h"
#include "cluster/kube/kube_cluster.h"

namespace muster::cli {

// The cluster that the flags and the environment name: --kubeconfig, KUBECONFIG, ~/.kube/config, or
// inside a pod the service account's.
Result<cluster::kube::ClientConfig> client_config(const Context& context);

// For people: cluster kind-ml (https://127.0.0.1:6443).
std::string describe(const cluster::kube::ClientConfig& config);

// As this program, whatever the options call it.
Result<std::unique_ptr<cluster::kube::KubeCluster>> open_kube(
    Context& context, const cluster::kube::ClientConfig& config,
    cluster::kube::KubeClusterOptions options = {});

}  // namespace muster::cli
