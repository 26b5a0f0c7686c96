#pragma once

#include "base/error.h"
#include "net/http_server.h"

namespace muster::cli {

// What a home's socket says while its plane cannot serve: the reason, to everybody.
class Apology final : public net::HttpHandler {
 public:
  explicit Apology(Error why) : why_(std::move(why)) {}
  Task<void> handle(const net::HttpRequest& request, net::Responder& responder) override;

 private:
  Error why_;
};

}  // namespace muster::cli
