#pragma once

#include <memory>

#include "api/status.h"
#include "json/write.h"
#include "net/http_server.h"

namespace muster::cli {

// Does what it is asked to, and the connection breaks before it has said so: a plane that is
// killed.
class LosesAnswers final : public net::HttpHandler {
 public:
  explicit LosesAnswers(net::HttpHandler& inner) : inner_(inner) {}

  int to_lose = 0;    // answers to the next requests that change something
  int watches = 0;    // that were asked for
  bool full = false;  // its disk: not even deletions are taken

  Task<void> handle(const net::HttpRequest& request, net::Responder& responder) override {
    if (request.target.find("watch=") != std::string::npos) ++watches;
    const bool sessions = request.target.starts_with("/muster/");
    if (full && request.method != "GET" && !sessions) {
      const Error why{.code = ErrorCode::InsufficientStorage, .message = "the disk is full"};
      [[maybe_unused]] const auto told = co_await responder.respond(
          {.status = 507, .headers = {}, .body = json::write(api::status_of(why))});
      co_return;
    }
    if (request.method == "GET" || to_lose == 0) {
      co_await inner_.handle(request, responder);
      co_return;
    }
    --to_lose;
    Unheard unheard(responder);
    co_await inner_.handle(request, unheard);
    [[maybe_unused]] const auto begun = co_await responder.begin(200, {});  // and never finished
  }

 private:
  class Unheard final : public net::Responder {
   public:
    explicit Unheard(const net::Responder& real) : real_(real) {}
    Task<Result<void>> respond(net::HttpResponse) override { co_return Result<void>{}; }
    Task<Result<void>> begin(int, net::Headers) override { co_return Result<void>{}; }
    Task<Result<void>> write_chunk(std::string_view) override { co_return Result<void>{}; }
    Task<Result<void>> finish() override { co_return Result<void>{}; }
    Task<Result<std::unique_ptr<net::Stream>>> upgrade(net::Headers) override {
      co_return fail(ErrorCode::MethodNotAllowed, "nobody is there");
    }
    [[nodiscard]] const net::Peer& peer() const override { return real_.peer(); }

   private:
    const net::Responder& real_;
  };

  net::HttpHandler& inner_;
};

}  // namespace muster::cli
