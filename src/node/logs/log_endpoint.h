#pragma once

#include <functional>
#include <string_view>

#include "cluster/cluster.h"
#include "net/http_server.h"
#include "node/logs/log_source.h"

namespace muster::node {

// A log request as the API server sends it to a node.
struct LogRequest {
  api::ObjectKey pod;
  cluster::LogOptions options;
};
// From /containerLogs/{namespace}/{pod}/{container}?follow=true&tailLines=10 and so on. NotFound
// for other paths, BadRequest for values that are not what they should be.
Result<LogRequest> parse_log_request(std::string_view target, Time now);

// The part of the kubelet's HTTP interface that `kubectl logs` needs. Put it behind a
// NodeGate: whoever reaches it reads every log. Lives on the agent's loop; what it
// refers to outlives it.
class LogEndpoint final : public net::HttpHandler {
 public:
  using FindPod = std::function<api::ObjectPtr(const api::ObjectKey&)>;

  LogEndpoint(rt::Loop& loop, LogSource& logs, FindPod find_pod)
      : loop_(loop), logs_(logs), find_pod_(std::move(find_pod)) {}

  Task<void> handle(const net::HttpRequest& request, net::Responder& responder) override;

 private:
  Task<void> send(LogRequest request, net::Responder& responder);

  rt::Loop& loop_;
  LogSource& logs_;
  FindPod find_pod_;
};

}  // namespace muster::node
