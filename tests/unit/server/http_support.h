#pragma once

#include <string>
#include <vector>

#include "base/strings.h"
#include "server/http/http_front.h"
#include "support.h"

namespace muster::server {

// For reading only, so that a look at a member never makes one.
inline const json::Value seen(std::string_view body) {
  return parse(body);
}

// Takes the answer as the peer would see it.
class Recorder final : public net::Responder {
 public:
  explicit Recorder(rt::Loop& loop) : loop_(loop) {}

  Task<Result<void>> respond(net::HttpResponse response) override {
    answer = std::move(response);
    done = true;
    co_return Result<void>{};
  }
  Task<Result<void>> begin(int status, net::Headers headers) override {
    answer.status = status;
    answer.headers = std::move(headers);
    co_return Result<void>{};
  }
  Task<Result<void>> write_chunk(std::string_view bytes) override {
    answer.body += bytes;
    co_return co_await rt::yield(loop_);
  }
  Task<Result<void>> finish() override {
    done = true;
    co_return Result<void>{};
  }
  Task<Result<std::unique_ptr<net::Stream>>> upgrade(net::Headers) override {
    co_return fail(ErrorCode::Unavailable, "there is no connection");
  }
  [[nodiscard]] const net::Peer& peer() const override { return peer_; }

  net::HttpResponse answer;
  bool done = false;

 private:
  rt::Loop& loop_;
  net::Peer peer_;
};

class HttpFrontTest : public ServerTest {
 protected:
  using ServerTest::ServerTest;

  net::HttpResponse call(std::string method, std::string target, std::string body = "",
                         net::Headers headers = {}) {
    Recorder recorder(loop_);
    const net::HttpRequest request{.method = std::move(method),
                                   .target = std::move(target),
                                   .headers = std::move(headers),
                                   .body = std::move(body)};
    loop_.run(front_.handle(request, recorder));
    EXPECT_TRUE(recorder.done) << request.target;
    return recorder.answer;
  }
  const json::Value get_json(const std::string& target, int status = 200) {
    const auto response = call("GET", target);
    EXPECT_EQ(response.status, status) << response.body;
    return seen(response.body);
  }
  net::HttpResponse post(const std::string& target, const json::Value& body) {
    return call("POST", target, json::write(body), {{"Content-Type", "application/json"}});
  }
  // The events that a watch gives until its time is up.
  std::vector<json::Value> events(const std::string& target, net::Headers headers = {}) {
    const auto response = call("GET", target, "", std::move(headers));
    EXPECT_EQ(response.status, 200) << response.body;
    std::vector<json::Value> list;
    for (const auto line : split(response.body, '\n')) {
      if (!line.empty()) list.push_back(parse(line));
    }
    return list;
  }

  HttpFront front_{core(), rng_};
};

}  // namespace muster::server
