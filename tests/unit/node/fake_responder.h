#pragma once

#include <memory>
#include <string>

#include "net/http_server.h"

namespace muster::node {

// Keeps what it was answered with.
class FakeResponder final : public net::Responder {
 public:
  Task<Result<void>> respond(net::HttpResponse response) override {
    status = response.status;
    body = response.body;
    co_return Result<void>{};
  }
  Task<Result<void>> begin(int code, net::Headers) override {
    status = code;
    co_return Result<void>{};
  }
  Task<Result<void>> write_chunk(std::string_view bytes) override {
    body += bytes;
    co_return Result<void>{};
  }
  Task<Result<void>> finish() override {
    finished = true;
    co_return Result<void>{};
  }
  Task<Result<std::unique_ptr<net::Stream>>> upgrade(net::Headers) override {
    co_return fail(ErrorCode::Unavailable, "there is no connection");
  }
  [[nodiscard]] const net::Peer& peer() const override { return from; }

  int status = 0;
  std::string body;
  bool finished = false;
  net::Peer from;
};

}  // namespace muster::node
