#pragma once

#include <memory>

#include "cluster/cluster.h"
#include "cluster/kube/watch_splitter.h"
#include "net/http_client.h"

namespace muster::cluster::kube {

// A watch over a streaming answer. Ends with Unavailable when the stream does (resume), and with
// Gone when the server says that the version is too old, or when what it sends makes no sense:
// listing again is the way out of both. Lives on the loop of its client.
class KubeWatch final : public Watch {
 public:
  explicit KubeWatch(std::unique_ptr<net::ResponseStream> stream) : stream_(std::move(stream)) {}
  Task<Result<WatchEvent>> next() override;

 private:
  std::unique_ptr<net::ResponseStream> stream_;
  WatchSplitter splitter_;
};

}  // namespace muster::cluster::kube
