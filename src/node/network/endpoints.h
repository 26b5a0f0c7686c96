#pragma once

#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "api/resource.h"
#include "json/value.h"
#include "node/agent/options.h"
#include "node/network/peer.h"
#include "node/runtime/runtime.h"

// Where services lead. Pure functions of services and pods.
namespace muster::node {

// Pods, found by the selectors of services. Services that select by the same labels look at all
// pods once together: a job may have one for each of its ranks.
class SelectablePods {
 public:
  explicit SelectablePods(const std::vector<Peer>& pods) : pods_(pods) {}

  // The pods of the service's namespace that its selector takes, in their order; none without a
  // selector.
  const std::vector<Peer>& selected_by(const json::Value& service);

 private:
  using ByValues = std::unordered_map<std::string, std::vector<Peer>>;
  using Keys = std::vector<std::string>;

  [[nodiscard]] ByValues grouped_by(const Keys& keys) const;

  const std::vector<Peer>& pods_;
  std::map<Keys, ByValues> by_keys_;
  std::vector<Peer> none_;
};

// It has an address, runs, and is ready (or the service publishes addresses that are not).
bool serves(const json::Value& service, const Peer& pod);

// The service by which pods find the API.
bool is_api_service(const json::Value& service);

// One rule for each port of each service that has a ClusterIP, in the services' order; endpoints in
// the pods' order. `api` is where the API's own service leads.
std::vector<ServiceRule> service_rules(const std::vector<api::ObjectPtr>& services,
                                       const std::vector<Peer>& pods,
                                       const std::optional<NodeOptions::Endpoint>& api);

}  // namespace muster::node
