#pragma once

#include <string>

#include "cluster/cluster.h"

// Cluster calls as the paths, queries and bodies of the Kubernetes API. Pure text; the server's own
// prefix is added by whoever sends.
namespace muster::cluster::kube {

// /api/v1/namespaces/NS/pods or /apis/GROUP/VERSION/plural; an empty namespace is all of them.
std::string collection_path(const Resource& resource, const std::string& ns);
std::string object_path(const Resource& resource, const ObjectKey& key);

std::string list_target(const Resource& resource, const ListOptions& options);
// `timeout_seconds` is how long the server may keep the stream open.
std::string watch_target(const Resource& resource, const WatchOptions& options,
                         int timeout_seconds);
std::string log_target(const ObjectKey& pod, const LogOptions& options);

std::string delete_body(const DeleteOptions& options);
std::string binding_body(const ObjectKey& pod, const std::string& pod_uid, const std::string& node);
std::string token_body(const TokenRequest& request);

}  // namespace muster::cluster::kube
