#pragma once

#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "cluster/kube/transport.h"
#include "rt/wait.h"

namespace muster::cluster::kube {

// A server as a function of the requests so far. Each answer comes after `latency`.
class ScriptedTransport final : public Transport {
 public:
  using Answer = std::function<Result<net::HttpResponse>(const net::HttpRequest&, int number)>;

  ScriptedTransport(rt::Loop& loop, Answer answer) : loop_(loop), answer_(std::move(answer)) {}

  Duration latency{};
  std::vector<net::HttpRequest> requests;
  int in_flight = 0;
  int most_in_flight = 0;
  bool closed = false;
  int renewed = 0;  // how often its connections were

  Task<Result<net::HttpResponse>> send(net::HttpRequest request) override {
    requests.push_back(request);
    const int number = static_cast<int>(requests.size());
    most_in_flight = std::max(most_in_flight, ++in_flight);
    const auto slept = co_await rt::sleep_for(loop_, latency);
    --in_flight;
    if (!slept) co_return fail(slept.error());
    co_return answer_(request, number);
  }

  Task<Result<std::unique_ptr<net::ResponseStream>>> open(net::HttpRequest request) override {
    auto response = CO_TRY(co_await send(std::move(request)));
    std::unique_ptr<net::ResponseStream> stream = std::make_unique<Stream>(std::move(response));
    co_return stream;
  }

  void renew_connections() override { ++renewed; }

  Task<void> close() override {
    closed = true;
    co_return;
  }

 private:
  // The body in pieces of seven bytes, then the end.
  class Stream final : public net::ResponseStream {
   public:
    explicit Stream(net::HttpResponse response) : response_(std::move(response)) {}
    [[nodiscard]] int status() const override { return response_.status; }
    [[nodiscard]] const net::Headers& headers() const override { return response_.headers; }
    Task<Result<std::optional<std::string>>> next() override {
      if (at_ >= response_.body.size()) co_return std::optional<std::string>();
      auto piece = response_.body.substr(at_, 7);
      at_ += piece.size();
      co_return std::optional(std::move(piece));
    }

   private:
    net::HttpResponse response_;
    std::size_t at_ = 0;
  };

  rt::Loop& loop_;
  Answer answer_;
};

inline net::HttpResponse answer(int status, std::string body, std::string retry_after = "") {
  net::HttpResponse response{.status = status, .body = std::move(body)};
  if (!retry_after.empty()) response.headers.add("Retry-After", std::move(retry_after));
  return response;
}

}  // namespace muster::cluster::kube
