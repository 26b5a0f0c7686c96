#include "net/http_server.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fmt/format.h>

#include "net/http_client.h"
#include "rt/scope.h"
#include "support.h"

namespace muster::net {
namespace {

using namespace std::chrono_literals;
using testing::open_descriptors;
using testing::ScratchFolder;

// Echoes, streams, or waits for ever, by path; counts who is inside.
class TestHandler final : public HttpHandler {
 public:
  explicit TestHandler(rt::Loop& loop) : loop_(loop), left_(loop) {}

  Task<void> handle(const HttpRequest& request, Responder& responder) override {
    ++requests;
    if (request.target == "/nothing") co_return;
    if (request.target == "/peer") {
      const auto peer = responder.peer();
      [[maybe_unused]] const auto sent = co_await responder.respond(
          {.body =
               peer.common_name + ":" + (peer.organizations.empty() ? "" : peer.organizations[0])});
    } else if (request.target == "/three") {
      [[maybe_unused]] const auto begun =
          co_await responder.begin(200, {{"Content-Type", "text/plain"}});
      for (const std::string_view piece : {"one ", "two ", "three"}) {
        [[maybe_unused]] const auto sent = co_await responder.write_chunk(piece);
      }
      [[maybe_unused]] const auto ended = co_await responder.finish();
    } else if (request.target == "/wait") {
      ++inside;
      [[maybe_unused]] const auto begun = co_await responder.begin(200, {});
      [[maybe_unused]] const auto sent = co_await responder.write_chunk("started");
      const auto slept = co_await rt::sleep_for(loop_, 1h);
      EXPECT_EQ(slept.error().code, ErrorCode::Cancelled);
      --inside;
      left_.set();
    } else if (request.target == "/flood") {
      [[maybe_unused]] const auto begun = co_await responder.begin(200, {});
      const std::string piece(std::size_t{64} << 10U, 'x');
      while (co_await responder.write_chunk(piece)) flooded += piece.size();
      left_.set();
    } else {
      HttpResponse response{
          .status = 201, .headers = {{"X-Method", request.method}}, .body = request.body};
      [[maybe_unused]] const auto sent = co_await responder.respond(std::move(response));
    }
  }
  Task<Result<void>> left() { return rt::with_timeout(loop_, 10s, left_.wait()); }

  int requests = 0;
  int inside = 0;
  std::size_t flooded = 0;

 private:
  rt::Loop& loop_;
  rt::Event left_;
};

// A server on a UNIX socket, and whatever a test says to it.
class HttpServerTest : public ::testing::Test {
 protected:
  HttpServerTest() { start({}); }
  ~HttpServerTest() override { loop_.run(server_->close()); }

  void start(HttpServerOptions options) {
    if (server_) loop_.run(server_->close());
    server_ = std::make_unique<HttpServer>(loop_, listen_unix(loop_, socket_).value(), handler_,
                                           std::move(options));
    server_->start();
  }
  HttpClient client() { return HttpClient(loop_, unix_connector(loop_, socket_)); }

  // Writes the bytes and gives all that comes until the server closes.
  Task<std::string> say(std::string bytes) {
    auto stream = (co_await unix_connector(loop_, socket_)->connect()).value();
    EXPECT_TRUE((co_await stream->write(bytes)).has_value());
    std::string answer;
    std::vector<char> buffer(65536);
    while (true) {
      const auto count = co_await rt::with_timeout(loop_, 10s, stream->read(buffer));
      if (!count || *count == 0) co_return answer;
      answer.append(buffer.data(), *count);
    }
  }

  ScratchFolder folder_;
  std::string socket_ = folder_.path("s");
  rt::RealLoop loop_;
  TestHandler handler_{loop_};
  std::unique_ptr<HttpServer> server_;
};

TEST_F(HttpServerTest, AnswersOurClientOnOneConnection) {
  auto http = client();
  for (int i = 0; i < 5; ++i) {
    const auto response =
        loop_.run(http.send({.method = "POST", .target = "/x", .body = fmt::format("body {}", i)}))
            .value();
    EXPECT_EQ(response.status, 201);
    EXPECT_EQ(response.body, fmt::format("body {}", i));
  }
  EXPECT_EQ(server_->connections(), 1U);
  const std::string big(std::size_t{2} << 20U, 'b');
  EXPECT_EQ(loop_.run(http.send({.method = "PUT", .target = "/x", .body = big})).value().body, big);
  EXPECT_EQ(loop_.run(http.send({.method = "HEAD", .target = "/x"})).value().body, "");
  EXPECT_EQ(loop_.run(http.send({.target = "/nothing"})).value().status, 500);
  EXPECT_EQ(server_->connections(), 1U);
  loop_.run(http.close());
}

TEST_F(HttpServerTest, AnAnswerLargerThanTheClientReadsCostsItsConnectionOnly) {
  HttpClient http(loop_, unix_connector(loop_, socket_), {.max_body_bytes = 1'000});
  const HttpRequest large{.method = "PUT", .target = "/x", .body = std::string(1'001, 'b')};
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(loop_.run(http.send(large)).error().code, ErrorCode::TooLarge);
    EXPECT_EQ(loop_.run(http.send({.target = "/flood"})).error().code, ErrorCode::TooLarge);
    EXPECT_TRUE(loop_.run(http.send({.method = "PUT", .target = "/x", .body = "b"})).has_value());
  }
  loop_.run(http.close());
}

TEST_F(HttpServerTest, ServesOnlyItsOwner) {
  struct stat info{};
  ASSERT_EQ(::stat(socket_.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777U, 0600U);
  EXPECT_EQ(listen_unix(loop_, socket_).error().code, ErrorCode::AlreadyExists);
  loop_.run(server_->close());
  EXPECT_NE(::stat(socket_.c_str(), &info), 0);
}

Task<std::string> read_all(HttpClient& http, std::string target) {
  auto stream = co_await http.open({.target = std::move(target)});
  if (!stream) co_return stream.error().message;
  std::string text;
  while (true) {
    auto piece = co_await (*stream)->next();
    if (!piece) co_return text + "!" + piece.error().message;
    if (!*piece) co_return text;
    text += **piece;
  }
}

TEST_F(HttpServerTest, StreamsInChunks) {
  auto http = client();
  EXPECT_EQ(loop_.run(read_all(http, "/three")), "one two three");
  loop_.run(http.close());
}

Task<Result<std::string>> first_piece(HttpClient& http, std::unique_ptr<ResponseStream>& stream,
                                      std::string target) {
  stream = CO_TRY(co_await http.open({.target = std::move(target)}));
  co_return *CO_TRY(co_await stream->next());
}

TEST_F(HttpServerTest, CancelsAHandlerWhosePeerIsGone) {
  auto http = client();
  std::unique_ptr<ResponseStream> stream;
  EXPECT_EQ(loop_.run(first_piece(http, stream, "/wait")).value(), "started");
  EXPECT_EQ(handler_.inside, 1);
  stream.reset();
  EXPECT_TRUE(loop_.run(handler_.left()).has_value());
  EXPECT_EQ(handler_.inside, 0);
  loop_.run(http.close());
}

TEST_F(HttpServerTest, CloseEndsHandlersAndTheirPeersSeeIt) {
  auto http = client();
  std::unique_ptr<ResponseStream> stream;
  EXPECT_TRUE(loop_.run(first_piece(http, stream, "/wait")).has_value());
  loop_.run(server_->close());
  EXPECT_EQ(handler_.inside, 0);
  EXPECT_EQ(loop_.run(stream->next()).error().code, ErrorCode::Unavailable);
  stream.reset();
  loop_.run(http.close());
  const auto refused = loop_.run(client().send({}));
  EXPECT_EQ(refused.error().code, ErrorCode::Unavailable);
  EXPECT_NE(refused.error().message.find(socket_), std::string::npos) << refused.error().message;
}

TEST_F(HttpServerTest, HoldsAStreamBackWhosePeerDoesNotRead) {
  auto http = client();
  std::unique_ptr<ResponseStream> stream;
  EXPECT_TRUE(loop_.run(first_piece(http, stream, "/flood")).has_value());
  // Socket buffers are all that the server can fill; another request is served meanwhile.
  for (int i = 0; i < 50; ++i) EXPECT_TRUE(loop_.run(http.send({.target = "/x"})).has_value());
  EXPECT_LT(handler_.flooded, std::size_t{8} << 20U);
  const auto before = handler_.flooded;
  for (int i = 0; i < 500; ++i) ASSERT_TRUE(loop_.run(stream->next()).has_value());
  EXPECT_GT(handler_.flooded, before);
  stream.reset();
  EXPECT_TRUE(loop_.run(handler_.left()).has_value());
  loop_.run(http.close());
}

TEST_F(HttpServerTest, GivesUpOnAPeerThatNeverReads) {
  start({.write_timeout = 50ms});
  auto http = client();
  std::unique_ptr<ResponseStream> stream;
  EXPECT_TRUE(loop_.run(first_piece(http, stream, "/flood")).has_value());
  EXPECT_TRUE(loop_.run(handler_.left()).has_value());
  stream.reset();
  loop_.run(http.close());
}

TEST_F(HttpServerTest, ClosesIdleConnectionsAndTellsSlowOnes) {
  start({.idle_timeout = 20ms, .read_timeout = 20ms});
  EXPECT_EQ(loop_.run(say("")), "");
  EXPECT_TRUE(loop_.run(say("GET / HT")).starts_with("HTTP/1.1 408 "));
  EXPECT_EQ(handler_.requests, 0);
}

TEST_F(HttpServerTest, AnswersPipelinedRequestsInOrder) {
  const auto answer =
      loop_.run(say("POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\nAPOST /x "
                    "HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nConnection: close\r\n\r\nB"));
  EXPECT_NE(answer.find("\r\n\r\nAHTTP/1.1 201"), std::string::npos) << answer;
  EXPECT_TRUE(answer.ends_with("\r\n\r\nB")) << answer;
}

TEST_F(HttpServerTest, RefusesWhatItShouldAndSaysWhy) {
  EXPECT_TRUE(loop_.run(say("nonsense\r\n\r\n")).starts_with("HTTP/1.1 400 "));
  EXPECT_TRUE(
      loop_.run(say("GET / HTTP/1.1\r\nHost: x\r\nA: " + std::string(40000, 'a') + "\r\n\r\n"))
          .starts_with("HTTP/1.1 431 "));
  const std::string big =
      "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9999999\r\n\r\n" + std::string(400'000, 'a');
  EXPECT_TRUE(loop_.run(say(big)).starts_with("HTTP/1.1 413 "));
  EXPECT_EQ(handler_.requests, 0);
}

TEST_F(HttpServerTest, StreamsToHttp10WithoutChunks) {
  const auto answer = loop_.run(say("GET /three HTTP/1.0\r\n\r\n"));
  EXPECT_TRUE(answer.ends_with("\r\n\r\none two three")) << answer;
  EXPECT_EQ(answer.find("chunked"), std::string::npos);
}

TEST_F(HttpServerTest, LimitsConnections) {
  start({.max_connections = 2});
  auto http = client();
  std::unique_ptr<ResponseStream> first;
  std::unique_ptr<ResponseStream> second;
  EXPECT_TRUE(loop_.run(first_piece(http, first, "/wait")).has_value());
  EXPECT_TRUE(loop_.run(first_piece(http, second, "/wait")).has_value());
  EXPECT_EQ(loop_.run(rt::with_timeout(loop_, 50ms, http.send({}))).error().code,
            ErrorCode::Timeout);
  first.reset();
  EXPECT_TRUE(loop_.run(rt::with_timeout(loop_, 10s, http.send({}))).has_value());
  second.reset();
  loop_.run(http.close());
}

TEST_F(HttpServerTest, ARestartedServerIsNoticedByTheClient) {
  auto http = client();
  EXPECT_TRUE(loop_.run(http.send({})).has_value());
  start({});  // the kept connection is dead now
  EXPECT_TRUE(loop_.run(http.send({})).has_value());
  start({});
  EXPECT_TRUE(loop_.run(http.send({.method = "POST"})).has_value());
  loop_.run(http.close());
}

TEST_F(HttpServerTest, CancelledRequestsLeaveNoDescriptors) {
  auto http = client();
  EXPECT_TRUE(loop_.run(http.send({})).has_value());
  const auto before = open_descriptors();
  for (int i = 0; i < 20; ++i) {
    const auto late = loop_.run(rt::with_timeout(loop_, 5ms, http.send({.target = "/wait"})));
    EXPECT_EQ(late.error().code, ErrorCode::Timeout);
  }
  loop_.run(http.close());
  loop_.run(server_->close());
  EXPECT_LT(open_descriptors(), before);
}

TEST_F(HttpServerTest, SpeaksWithCurl) {
  ScratchFolder out;
  // Posting more than 1 MiB makes curl wait for 100 Continue.
  const auto body = out.write("body", std::string(std::size_t{1500} << 10U, 'c'));
  struct Outcome {
    int code;
  };
  rt::Pool pool(1);
  const auto curl = [&](std::vector<std::string> arguments) {
    std::vector<std::string> all = {"curl", "-s", "--max-time", "20", "--unix-socket", socket_};
    all.insert(all.end(), arguments.begin(), arguments.end());
    return loop_.run(pool.run(loop_, [all] { return Outcome{testing::Program(all).wait()}; }))
        .value()
        .code;
  };
  ASSERT_EQ(curl({"-o", out.path("a"), "--data-binary", "@" + body, "http://x/echo"}), 0);
  EXPECT_EQ(std::filesystem::file_size(out.path("a")), std::size_t{1500} << 10U);
  ASSERT_EQ(curl({"-o", out.path("b"), "-H", "Transfer-Encoding: chunked", "--data-binary",
                  "@" + body, "http://x/echo", "-o", out.path("c"), "http://x/three"}),
            0);
  EXPECT_EQ(std::filesystem::file_size(out.path("b")), std::size_t{1500} << 10U);
  EXPECT_EQ(curl({"-I", "http://x/echo"}), 0);
}

TEST(TlsServer, KnowsItsClientsByCertificate) {
  const auto all = testing::Certificates::make();
  rt::RealLoop loop;
  rt::Pool pool(1);
  TestHandler handler(loop);
  const auto context =
      TlsContext::server({.identity = all.server, .client_ca_pem = all.ca.certificate_pem}).value();
  HttpServer server(loop, listen_tcp(loop, {.tls = context}).value(), handler);
  server.start();
  const auto ask = [&](TlsClientOptions options) {
    options.server_name = "localhost";
    HttpClient http(loop, tcp_connector(loop, pool,
                                        {.host = "127.0.0.1",
                                         .port = server.port(),
                                         .tls = TlsContext::client(options).value()}));
    auto response = loop.run(http.send({.target = "/peer"}));
    loop.run(http.close());
    return response;
  };
  EXPECT_EQ(ask({.ca_pem = all.ca.certificate_pem, .identity = all.client}).value().body,
            "alice:team");
  EXPECT_EQ(ask({.ca_pem = all.ca.certificate_pem}).error().code, ErrorCode::Unavailable);
  const auto other = testing::Certificates::make();
  EXPECT_EQ(ask({.ca_pem = all.ca.certificate_pem, .identity = other.client}).error().code,
            ErrorCode::Unavailable);
  EXPECT_EQ(handler.requests, 1);
  loop.run(server.close());
}

}  // namespace
}  // namespace muster::net
