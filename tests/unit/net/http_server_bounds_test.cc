// What clients can make an HTTP server hold, and for how long.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <fmt/format.h>

#include "net/http_server.h"
#include "net/http_server_connections.h"
#include "rt/scope.h"
#include "rt/sim_loop.h"
#include "support.h"

namespace muster::net {
namespace {

using namespace std::chrono_literals;

class NamedStream final : public Stream {
 public:
  explicit NamedStream(std::string name) : name_(std::move(name)) {}
  Task<Result<std::size_t>> read(std::span<char>) override { co_return std::size_t{0}; }
  Task<Result<void>> write(std::string_view) override { co_return Result<void>{}; }
  Task<Result<void>> shutdown() override { co_return Result<void>{}; }
  void close() override { closed = true; }
  bool quiet() override { return true; }
  [[nodiscard]] std::string client() const override { return name_; }

  bool closed = false;

 private:
  std::string name_;
};

class ConnectionsTest : public ::testing::Test {
 protected:
  struct One {
    One(Connections& all, const std::string& client) : stream(client), place(all, stream) {}
    NamedStream stream;
    Connections::Member place;
  };
  std::unique_ptr<One> connect(const std::string& client) {
    return std::make_unique<One>(all_, client);
  }

  rt::SimLoop loop_{Time()};
  Connections all_{loop_, {.connections = 4, .request_bytes = 100, .answer_bytes = 100}};
};

TEST_F(ConnectionsTest, TheOldestIdleOneOfWhoHasMostIsClosed) {
  const auto other = connect("other");
  const auto busy = connect("greedy");
  busy->place.now(Connections::Doing::Handling);
  const auto first = connect("greedy");
  const auto second = connect("greedy");
  EXPECT_FALSE(all_.has_room());
  EXPECT_TRUE(all_.make_room());
  EXPECT_TRUE(first->stream.closed);
  EXPECT_TRUE(all_.has_room());
  EXPECT_FALSE(second->stream.closed || busy->stream.closed || other->stream.closed);
  second->place.now(Connections::Doing::Handling);
  EXPECT_TRUE(all_.make_room());
  EXPECT_TRUE(other->stream.closed);
  EXPECT_FALSE(all_.make_room()) << "all others work";
}

TEST_F(ConnectionsTest, WhoSendsForLongMakesRoomWhenNobodyIsIdle) {
  const auto slow = connect("a");
  slow->place.now(Connections::Doing::Reading);
  EXPECT_FALSE(all_.make_room());
  loop_.run(rt::sleep_for(loop_, Connections::kReadPatience));
  const auto quick = connect("b");
  quick->place.now(Connections::Doing::Reading);
  EXPECT_TRUE(all_.make_room());
  EXPECT_TRUE(slow->stream.closed);
  EXPECT_FALSE(all_.make_room());
}

TEST_F(ConnectionsTest, LargeRequestsWaitForEachOther) {
  const auto first = connect("a");
  const auto second = connect("b");
  ASSERT_TRUE(loop_.run(first->place.take_request(1'000))) << "alone it may be larger than all";
  first->place.now(Connections::Doing::Handling);
  std::optional<Result<void>> let_in;
  rt::TaskScope scope(loop_);
  const auto wait = [](Connections::Member& place, std::optional<Result<void>>& out) -> Task<void> {
    out = co_await place.take_request(60);
  };
  scope.spawn(wait(second->place, let_in));
  loop_.run_for(9s);
  EXPECT_FALSE(let_in);
  first->place.now(Connections::Doing::Waiting);
  loop_.drain();
  ASSERT_TRUE(let_in);
  EXPECT_TRUE(let_in->has_value());
  const auto third = connect("c");
  const auto refused = loop_.run(third->place.take_request(60));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::TooManyRequests);
  loop_.run(scope.close());
}

TEST_F(ConnectionsTest, ALargeRequestThatTricklesMakesWay) {
  auto slow = connect("a");
  slow->place.now(Connections::Doing::Reading);
  ASSERT_TRUE(loop_.run(slow->place.take_request(100)));
  const auto second = connect("b");
  std::optional<Result<void>> let_in;
  rt::TaskScope scope(loop_);
  const auto wait = [](Connections::Member& place, std::optional<Result<void>>& out) -> Task<void> {
    out = co_await place.take_request(60);
  };
  scope.spawn(wait(second->place, let_in));
  loop_.run_for(4s);
  EXPECT_FALSE(slow->stream.closed);
  loop_.run_for(3s);
  EXPECT_TRUE(slow->stream.closed);
  slow.reset();
  loop_.drain();
  EXPECT_TRUE(let_in && let_in->has_value());
  loop_.run(scope.close());
}

TEST_F(ConnectionsTest, NobodyHoldsSoManyAnswersThatNothingIsLeft) {
  const auto first = connect("a");
  const auto also = connect("a");
  const auto other = connect("b");
  EXPECT_TRUE(first->place.take_answer(40));
  EXPECT_FALSE(also->place.take_answer(40)) << "60 are left, and with it the client had 80";
  EXPECT_TRUE(other->place.take_answer(50));
  first->place.give_back_answer();
  EXPECT_TRUE(also->place.take_answer(40));
}

// Answers what it was sent; /wait lasts until it is cancelled.
class EchoHandler final : public HttpHandler {
 public:
  explicit EchoHandler(rt::Loop& loop) : loop_(loop) {}
  Task<void> handle(const HttpRequest& request, Responder& responder) override {
    last_client = responder.peer().client;
    if (request.target == "/wait") {
      [[maybe_unused]] const auto begun = co_await responder.begin(200, {});
      [[maybe_unused]] const auto slept = co_await rt::sleep_for(loop_, 1h);
      co_return;
    }
    [[maybe_unused]] const auto sent = co_await responder.respond({.body = request.body});
    ++answered;
  }
  std::string last_client;
  int answered = 0;

 private:
  rt::Loop& loop_;
};

class ServerBoundsTest : public ::testing::Test {
 protected:
  ~ServerBoundsTest() override {
    streams_.clear();
    if (server_) loop_.run(server_->close());
  }
  void start(HttpServerOptions options) {
    server_ = std::make_unique<HttpServer>(loop_, listen_unix(loop_, socket_).value(), handler_,
                                           std::move(options));
    server_->start();
  }
  Stream& connect() {
    return *streams_.emplace_back(loop_.run(unix_connector(loop_, socket_)->connect()).value());
  }
  void send(Stream& stream, std::string bytes) {
    ASSERT_TRUE(loop_.run(stream.write(bytes)).has_value());
  }
  // What comes next; "" at the end, "nothing" when nothing comes for a while.
  std::string hear(Stream& stream, Duration limit = 100ms) {
    std::vector<char> buffer(1'000);
    const auto count = loop_.run(rt::with_timeout(loop_, limit, stream.read(buffer)));
    if (!count && count.error().code == ErrorCode::Timeout) return "nothing";
    return count ? std::string(buffer.data(), *count) : std::string();
  }
  static std::string put(std::size_t length, std::string_view body) {
    return fmt::format("PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: {}\r\n\r\n{}", length, body);
  }

  testing::ScratchFolder folder_;
  std::string socket_ = folder_.path("s");
  rt::RealLoop loop_;
  EchoHandler handler_{loop_};
  std::unique_ptr<HttpServer> server_;
  std::vector<std::unique_ptr<Stream>> streams_;
};

constexpr const char* kGet = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
constexpr const char* kWait = "GET /wait HTTP/1.1\r\nHost: x\r\n\r\n";

TEST_F(ServerBoundsTest, IdleConnectionsMakeRoomAndRequestsGoOn) {
  start({.max_connections = 4});
  Stream& watching = connect();
  send(watching, kWait);
  EXPECT_TRUE(hear(watching, 10s).starts_with("HTTP/1.1 200"));
  Stream& oldest = connect();
  for (int i = 0; i < 100; ++i) connect();
  Stream& newest = connect();
  send(newest, kGet);
  EXPECT_TRUE(hear(newest, 10s).starts_with("HTTP/1.1 200"));
  EXPECT_EQ(hear(oldest, 10s), "");
  EXPECT_EQ(hear(watching), "nothing") << "it is served still";
  EXPECT_LE(server_->connections(), 4U);
}

TEST_F(ServerBoundsTest, KnowsItsClientsByTheKernelsWord) {
  start({});
  Stream& stream = connect();
  send(stream, kGet);
  EXPECT_TRUE(hear(stream, 10s).starts_with("HTTP/1.1 200"));
  EXPECT_EQ(handler_.last_client, fmt::format("uid {} pid {}", ::getuid(), ::getpid()));
}

TEST_F(ServerBoundsTest, ALargeRequestIsLetInWhenThereIsRoom) {
  start({.small_request_bytes = 10, .max_request_bytes_at_once = 100});
  Stream& first = connect();
  send(first, put(80, std::string(40, 'a')));
  EXPECT_EQ(hear(first), "nothing");
  Stream& second = connect();
  send(second, put(80, std::string(80, 'b')));
  EXPECT_EQ(hear(second), "nothing");
  Stream& small = connect();
  send(small, put(10, std::string(10, 'c')));
  EXPECT_TRUE(hear(small, 10s).ends_with("cccccccccc")) << "small ones wait for nobody";
  send(first, std::string(40, 'a'));
  EXPECT_TRUE(hear(first, 10s).starts_with("HTTP/1.1 200"));
  EXPECT_TRUE(hear(second, 10s).starts_with("HTTP/1.1 200"));
}

TEST_F(ServerBoundsTest, LargeAnswersThatNobodyReadsAreNotPiledUp) {
  start({.max_unread_answer_bytes = std::size_t{2} << 20U});
  const std::string body(std::size_t{1} << 20U, 'a');
  const std::string get =
      fmt::format("GET / HTTP/1.1\r\nHost: x\r\nContent-Length: {}\r\n\r\n{}", body.size(), body);
  send(connect(), get);
  Stream& second = connect();
  send(second, get);
  EXPECT_TRUE(hear(second, 10s).starts_with("HTTP/1.1 429"));
  Stream& small = connect();
  send(small, kGet);
  EXPECT_TRUE(hear(small, 10s).starts_with("HTTP/1.1 200"));
}

TEST_F(ServerBoundsTest, ABodyThatTricklesIsTold) {
  start({.read_timeout = 200ms});
  Stream& slow = connect();
  send(slow, put(100, ""));
  std::string answer;
  for (int i = 0; i < 100 && answer.empty(); ++i) {
    send(slow, "a");
    const auto heard = hear(slow, 10ms);
    if (heard != "nothing") answer = heard;
  }
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 408")) << answer;
  EXPECT_EQ(handler_.answered, 0);
}

TEST_F(ServerBoundsTest, AReaderThatTricklesIsCut) {
  start({.write_timeout = 200ms});
  const std::string body(std::size_t{2} << 20U, 'a');
  Stream& slow = connect();
  send(slow, put(body.size(), body));
  const Monotonic until = loop_.monotonic() + 10s;
  while (server_->connections() > 0 && loop_.monotonic() < until) {
    [[maybe_unused]] const std::string some = hear(slow, 10ms);
    loop_.run(rt::sleep_for(loop_, 10ms));
  }
  EXPECT_EQ(server_->connections(), 0U);
}

TEST_F(ServerBoundsTest, ManyHeadersAreRefused) {
  start({});
  std::string head = "GET / HTTP/1.1\r\nHost: x\r\n";
  for (int i = 0; i < 100; ++i) head += fmt::format("A{}: b\r\n", i);
  Stream& stream = connect();
  send(stream, head + "\r\n");
  EXPECT_TRUE(hear(stream, 10s).starts_with("HTTP/1.1 431"));
}

// Without a descriptor to spare accept() fails at once, again and again.
TEST_F(ServerBoundsTest, RunningOutOfDescriptorsIsWaitedOutWithoutSpinning) {
  int warnings = 0;
  start({.log = Logger([&](Severity, std::string_view, std::string_view) { ++warnings; },
                       Severity::Warning)});
  std::vector<Stream*> waiting;
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  Stream& stream = connect();
  rlimit none = before;
  none.rlim_cur = 3;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  const auto cpu = [](const rusage& of) {
    return of.ru_utime.tv_sec * 1'000'000 + of.ru_utime.tv_usec + of.ru_stime.tv_sec * 1'000'000 +
           of.ru_stime.tv_usec;
  };
  const auto start_of = cpu(used);
  send(stream, kGet);
  EXPECT_EQ(hear(stream, 500ms), "nothing");
  ::getrusage(RUSAGE_SELF, &used);
  EXPECT_LT(cpu(used) - start_of, 250'000);
  EXPECT_EQ(warnings, 1);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_TRUE(hear(stream, 10s).starts_with("HTTP/1.1 200"));
}

}  // namespace
}  // namespace muster::net
