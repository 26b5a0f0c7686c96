#include "net/http_client.h"

#include <gtest/gtest.h>

#include "rt/scope.h"
#include "rt/sim_loop.h"

// The client in virtual time, on streams that remember what was written.
namespace muster::net {
namespace {

using namespace std::chrono_literals;

// Takes every write and sends only what a test says; otherwise silent until it is closed.
class RecordingStream final : public Stream {
 public:
  RecordingStream(rt::Loop& loop, std::string protocol, std::vector<std::string>& writes)
      : protocol_(std::move(protocol)), writes_(writes), closed_(loop) {}

  Task<Result<std::size_t>> read(std::span<char>) override {
    CO_TRY(co_await closed_.wait());
    co_return fail(ErrorCode::Unavailable, "closed");
  }
  Task<Result<void>> write(std::string_view bytes) override {
    writes_.emplace_back(bytes);
    co_return Result<void>{};
  }
  Task<Result<void>> shutdown() override { co_return Result<void>{}; }
  void close() override { closed_.set(); }
  bool quiet() override { return !closed_.is_set(); }
  std::string protocol() const override { return protocol_; }

 private:
  std::string protocol_;
  std::vector<std::string>& writes_;
  rt::Event closed_;
};

class RecordingConnector final : public Connector {
 public:
  RecordingConnector(rt::Loop& loop, std::string protocol, std::vector<std::string>& writes)
      : loop_(loop), protocol_(std::move(protocol)), writes_(writes) {}
  Task<Result<std::unique_ptr<Stream>>> connect() override {
    CO_TRY(co_await rt::sleep_for(loop_, 1ms));
    co_return std::make_unique<RecordingStream>(loop_, protocol_, writes_);
  }
  std::string authority() const override { return "host"; }
  std::string scheme() const override { return "https"; }
  std::string describe() const override { return "https://host"; }

 private:
  rt::Loop& loop_;
  std::string protocol_;
  std::vector<std::string>& writes_;
};

Task<void> send(HttpClient& http, int& unavailable) {
  const auto response = co_await http.send({.method = "POST", .body = std::string(1000, 'b')});
  if (!response && response.error().code == ErrorCode::Unavailable) ++unavailable;
}

TEST(HttpClient, RequestsSubmittedTogetherLeaveInOneWrite) {
  rt::SimLoop loop{Time{}};
  std::vector<std::string> writes;
  HttpClient http(loop, std::make_unique<RecordingConnector>(loop, "h2", writes));
  int unavailable = 0;
  rt::TaskScope scope(loop);
  scope.spawn(send(http, unavailable));
  loop.run_for(10ms);
  writes.clear();
  for (int i = 0; i < 32; ++i) scope.spawn(send(http, unavailable));
  loop.run_for(10ms);
  ASSERT_EQ(writes.size(), 1U);
  EXPECT_GT(writes[0].size(), 32U * 1000U);
  loop.run(http.close());
  loop.run(scope.join());
  EXPECT_EQ(unavailable, 33);
}

TEST(HttpClient, AsksASilentServerAndGivesItUp) {
  rt::SimLoop loop{Time{}};
  std::vector<std::string> writes;
  HttpClient http(loop, std::make_unique<RecordingConnector>(loop, "h2", writes));
  int unavailable = 0;
  rt::TaskScope scope(loop);
  scope.spawn(send(http, unavailable));
  loop.run_for(29s);
  const auto before = writes.size();
  loop.run_for(2s);
  EXPECT_EQ(writes.size(), before + 1);  // the ping
  loop.run_for(13s);
  EXPECT_EQ(unavailable, 0);
  loop.run_for(2s);
  EXPECT_EQ(unavailable, 1);
  loop.run(http.close());
  loop.run(scope.join());
}

TEST(HttpClient, OpensNoMoreHttp1ConnectionsThanAllowed) {
  rt::SimLoop loop{Time{}};
  std::vector<std::string> writes;
  HttpClient http(loop, std::make_unique<RecordingConnector>(loop, "http/1.1", writes),
                  {.http1_connections = 4});
  int unavailable = 0;
  rt::TaskScope scope(loop);
  for (int i = 0; i < 10; ++i) scope.spawn(send(http, unavailable));
  loop.run_for(1s);
  EXPECT_EQ(writes.size(), 4U);
  loop.run(http.close());
  loop.run(scope.join());
  EXPECT_EQ(unavailable, 10);
}

}  // namespace
}  // namespace muster::net
