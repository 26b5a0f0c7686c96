#pragma once

#include <memory>

#include "net/http.h"
#include "net/http_client.h"
#include "rt/task.h"

namespace muster::cluster::kube {

// What carries requests to the server: HttpClient in a process, a script in a test.
class Transport {
 public:
  virtual ~Transport() = default;
  virtual Task<Result<net::HttpResponse>> send(net::HttpRequest request) = 0;
  virtual Task<Result<std::unique_ptr<net::ResponseStream>>> open(net::HttpRequest request) = 0;
  // What comes next goes over new connections; those there are end with the answers on them.
  virtual void renew_connections() = 0;
  virtual Task<void> close() = 0;
};

class HttpTransport final : public Transport {
 public:
  HttpTransport(rt::Loop& loop, std::unique_ptr<net::Connector> connector,
                net::HttpClientOptions options = {})
      : client_(loop, std::move(connector), options) {}

  Task<Result<net::HttpResponse>> send(net::HttpRequest request) override {
    return client_.send(std::move(request));
  }
  Task<Result<std::unique_ptr<net::ResponseStream>>> open(net::HttpRequest request) override {
    return client_.open(std::move(request));
  }
  void renew_connections() override { client_.renew_connections(); }
  Task<void> close() override { return client_.close(); }

 private:
  net::HttpClient client_;
};

}  // namespace muster::cluster::kube
