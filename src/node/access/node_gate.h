#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "base/log.h"
#include "cluster/cluster.h"
#include "json/value.h"
#include "net/http_server.h"
#include "rt/task.h"

namespace muster::node {

// Who comes to a node, as a SubjectAccessReview names him.
struct Caller {
  std::string name;
  std::string uid;
  std::vector<std::string> groups;
  json::Value extra;
};

// What a request to a node wants, as the kubelet puts it: a verb by its method on nodes/proxy, or
// on nodes/metrics.
struct NodeAction {
  std::string verb;
  std::string subresource;
};
NodeAction node_action(const net::HttpRequest& request);

// The kubelet's two questions, asked for every request before anybody else sees it: who are you (a
// client certificate that TLS has verified, or a bearer token for a TokenReview), and may you (a
// SubjectAccessReview). What cannot be found out is refused. It keeps nothing. Lives on the
// cluster's loop; all that it is given outlives it.
class NodeGate final : public net::HttpHandler {
 public:
  NodeGate(cluster::Cluster& cluster, std::string node, net::HttpHandler& inner, Logger log)
      : cluster_(cluster), node_(std::move(node)), inner_(inner), log_(std::move(log)) {}

  Task<void> handle(const net::HttpRequest& request, net::Responder& responder) override;

 private:
  Task<Result<void>> admit(const net::HttpRequest& request, net::Peer peer);
  Task<Result<Caller>> authenticate(const net::HttpRequest& request, net::Peer peer);
  Task<Result<void>> authorize(Caller caller, NodeAction action);

  cluster::Cluster& cluster_;
  std::string node_;
  net::HttpHandler& inner_;
  Logger log_;
};

}  // namespace muster::node
