#include <gtest/gtest.h>

#include <fmt/format.h>

#include "net/http_client.h"
#include "rt/scope.h"
#include "support.h"

// Our client against a server that is not ours.
namespace muster::net {
namespace {

using namespace std::chrono_literals;
using testing::Certificates;

constexpr const char* kNghttpd = "/usr/sbin/nghttpd";  // not on every user's PATH

class NghttpdTest : public ::testing::Test {
 protected:
  ~NghttpdTest() override {
    if (http_) loop_.run(http_->close());
  }

  void serve(std::vector<std::string> extra = {}) {
    ASSERT_TRUE(std::filesystem::exists(kNghttpd)) << "install the package nghttp2-server";
    port_ = testing::free_port(loop_);
    std::vector<std::string> arguments = {kNghttpd, "--address=127.0.0.1", "--echo-upload", "-d",
                                          folder_.path("")};
    arguments.insert(arguments.end(), extra.begin(), extra.end());
    arguments.push_back(std::to_string(port_));
    arguments.push_back(folder_.write("key.pem", all_.server.key_pem.reveal()));
    arguments.push_back(folder_.write("certificate.pem", all_.server.certificate_pem));
    server_ = std::make_unique<testing::Program>(arguments);
    loop_.run(until_it_listens());
  }
  Task<void> until_it_listens() {
    const auto connector = tcp_connector(loop_, pool_, {.host = "127.0.0.1", .port = port_});
    for (int i = 0; i < 1000; ++i) {
      if (co_await connector->connect()) co_return;
      [[maybe_unused]] const auto slept = co_await rt::sleep_for(loop_, 10ms);
    }
    ADD_FAILURE() << "nghttpd does not listen";
  }

  HttpClient& connect(TlsClientOptions tls, std::string host = "127.0.0.1",
                      HttpClientOptions options = {}) {
    if (http_) loop_.run(http_->close());
    TcpOptions tcp{.host = std::move(host), .port = port_, .tls = TlsContext::client(tls).value()};
    http_ =
        std::make_unique<HttpClient>(loop_, tcp_connector(loop_, pool_, std::move(tcp)), options);
    return *http_;
  }
  HttpClient& connect() { return connect({.ca_pem = all_.ca.certificate_pem}); }

  testing::ScratchFolder folder_;
  Certificates all_ = Certificates::make();
  rt::RealLoop loop_;
  rt::Pool pool_{1};
  std::uint16_t port_ = 0;
  std::unique_ptr<testing::Program> server_;
  std::unique_ptr<HttpClient> http_;
};

Task<void> post(HttpClient& http, int number, int& right) {
  const std::string body = fmt::format("{:05}", number) + std::string(2'500, 'p');
  const auto response = co_await http.send({.method = "POST", .target = "/echo", .body = body});
  if (response && response->status == 200 && response->body == body) ++right;
}

TEST_F(NghttpdTest, AThousandPostsAtOnce) {
  serve({"-m", "100"});
  auto& http = connect();
  int right = 0;
  rt::TaskScope scope(loop_);
  for (int i = 0; i < 1'000; ++i) scope.spawn(post(http, i, right));
  loop_.run(scope.join());
  EXPECT_EQ(right, 1'000);
}

TEST_F(NghttpdTest, BigBodiesBothWays) {
  serve();
  const std::string body(std::size_t{20} << 20U, 'b');
  const auto response =
      loop_.run(connect().send({.method = "POST", .target = "/echo", .body = body})).value();
  EXPECT_EQ(response.status, 200);
  EXPECT_TRUE(response.body == body);
}

Task<Result<std::size_t>> read_all(HttpClient& http, std::string target) {
  auto stream = CO_TRY(co_await http.open({.target = std::move(target)}));
  std::size_t size = 0;
  while (true) {
    const auto piece = CO_TRY(co_await stream->next());
    if (!piece) co_return size;
    size += piece->size();
  }
}

TEST_F(NghttpdTest, StreamsAFile) {
  folder_.write("file", std::string(std::size_t{30} << 20U, 'f'));
  serve();
  EXPECT_EQ(loop_.run(read_all(connect(), "/file")).value(), std::size_t{30} << 20U);
  EXPECT_EQ(loop_.run(http_->send({.target = "/none"})).value().status, 404);
}

Task<Result<void>> read_on_after_the_kill(HttpClient& http, testing::Program& server) {
  auto stream = CO_TRY(co_await http.open({.target = "/file"}));
  CO_TRY(co_await stream->next());
  server.kill();
  while (CO_TRY(co_await stream->next())) {
  }
  co_return Result<void>{};
}

TEST_F(NghttpdTest, AKilledServerIsUnavailable) {
  folder_.write("file", std::string(std::size_t{30} << 20U, 'f'));
  serve();
  auto& http =
      connect({.ca_pem = all_.ca.certificate_pem}, "127.0.0.1", {.stream_window = 1U << 20U});
  EXPECT_EQ(loop_.run(read_on_after_the_kill(http, *server_)).error().code, ErrorCode::Unavailable);
  const auto refused = loop_.run(http.send({}));
  EXPECT_EQ(refused.error().code, ErrorCode::Unavailable);
  EXPECT_EQ(refused.error().message,
            fmt::format("https://127.0.0.1:{}: Connection refused", port_));
}

TEST_F(NghttpdTest, ChecksTheChainAndTheName) {
  serve();
  const TlsClientOptions by_name{.ca_pem = all_.ca.certificate_pem, .server_name = "localhost"};
  EXPECT_TRUE(loop_.run(connect(by_name).send({})).has_value());

  const auto other = Certificates::make();
  const auto untrusted = loop_.run(connect({.ca_pem = other.ca.certificate_pem}).send({}));
  EXPECT_EQ(untrusted.error().code, ErrorCode::Unauthorized) << "it is not tried again";
  EXPECT_NE(untrusted.error().message.find("certificate of \"127.0.0.1\" is refused"),
            std::string::npos)
      << untrusted.error().message;
  EXPECT_FALSE(loop_.run(connect({}).send({})).has_value());  // the system's trust store

  const auto misnamed = loop_.run(
      connect({.ca_pem = all_.ca.certificate_pem, .server_name = "example.org"}).send({}));
  EXPECT_NE(misnamed.error().message.find("hostname mismatch"), std::string::npos)
      << misnamed.error().message;
  const auto misplaced =
      loop_.run(connect({.ca_pem = all_.ca.certificate_pem, .server_name = "10.0.0.1"}).send({}));
  EXPECT_NE(misplaced.error().message.find("IP address mismatch"), std::string::npos)
      << misplaced.error().message;

  EXPECT_TRUE(loop_.run(connect({.verification = Verification::Insecure}).send({})).has_value());
}

TEST_F(NghttpdTest, ShowsItsClientCertificate) {
  serve({"--verify-client"});
  EXPECT_TRUE(
      loop_.run(connect({.ca_pem = all_.ca.certificate_pem, .identity = all_.client}).send({}))
          .has_value());
}

TEST_F(NghttpdTest, LeavesNoDescriptors) {
  serve();
  const auto before = testing::open_descriptors();
  EXPECT_TRUE(loop_.run(connect().send({})).has_value());
  loop_.run(http_->close());
  http_.reset();
  EXPECT_EQ(testing::open_descriptors(), before);
}

}  // namespace
}  // namespace muster::net
