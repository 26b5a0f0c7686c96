#include "cluster/kube/programs/program_client.h"

#include <gtest/gtest.h>

#include <filesystem>

#include <fmt/format.h>

#include "api/exec.h"
#include "base/check.h"
#include "json/write.h"
#include "memory_files.h"
#include "net/http_server.h"
#include "net/websocket/channels.h"
#include "rt/real_loop.h"

namespace muster::cluster::kube {
namespace {

using namespace std::chrono_literals;
using net::Channel;

// An API server that speaks one subprotocol and says what it is told to; keeps what it heard.
class Server final : public net::HttpHandler {
 public:
  Server(rt::Loop& loop, Rng& rng) : loop_(loop), rng_(rng) {}

  Task<void> handle(const net::HttpRequest& request, net::Responder& responder) override {
    target = request.target;
    authorization = request.headers.get("authorization").value_or("");
    if (protocol.empty()) {
      [[maybe_unused]] const auto sent = co_await responder.respond(
          {.status = 403,
           .body = R"({"kind":"Status","message":"not with token hidden","reason":"Forbidden"})"});
      co_return;
    }
    const auto socket = co_await net::accept_web_socket(loop_, rng_, request, responder, protocol);
    if (!socket) co_return;
    for (const auto& message : says) {
      [[maybe_unused]] const auto sent =
          co_await (*socket)->send(net::WebSocketMessage::Kind::Binary, message);
    }
    while (heard.size() < hears) {
      auto message = co_await (*socket)->next();
      if (!message || !*message) co_return;
      heard.push_back((*message)->bytes);
    }
    co_await (*socket)->close(net::WebSocketClose::GoingAway, "enough");
  }

  std::string protocol = std::string(net::kChannelsV5);
  std::vector<std::string> says;
  std::size_t hears = 0;
  std::vector<std::string> heard;
  std::string target;
  std::string authorization;

 private:
  rt::Loop& loop_;
  Rng& rng_;
};

class ProgramClientTest : public ::testing::Test {
 protected:
  ProgramClientTest() {
    CHECK(::mkdtemp(folder_.data()) != nullptr);
    http_ = std::make_unique<net::HttpServer>(loop_, net::listen_unix(loop_, socket()).value(),
                                              server_);
    http_->start();
    client_ = std::make_unique<ProgramClient>(
        loop_, net::unix_connector(loop_, socket()),
        std::make_shared<Credentials>(loop_, ClientConfig{.token = Secret("hidden")}, files_), rng_,
        ProgramClient::Options{.prefix = "/proxy", .user_agent = "test", .request_timeout = 10s});
  }
  ~ProgramClientTest() override {
    loop_.run(http_->close());
    std::filesystem::remove_all(folder_);
  }
  [[nodiscard]] std::string socket() const { return folder_ + "/s"; }

  Result<std::unique_ptr<rt::RemoteProgram>> open() {
    return loop_.run(client_->open({.ns = "default", .name = "p"},
                                   {.container = "main", .command = {"ls", "-l"}, .output = true}));
  }
  std::string next(rt::RemoteProgram& program) {
    const auto event = loop_.run(rt::with_timeout(loop_, 10s, program.next()));
    if (!event) return "! " + event.error().message;
    if (const auto* exit = std::get_if<rt::ProgramExit>(&*event))
      return fmt::format("exit {}", exit->code);
    const auto& output = std::get<rt::ProgramOutput>(*event);
    return (output.stream == rt::ProgramOutput::Stream::Stdout ? "out " : "err ") + output.bytes;
  }

  rt::RealLoop loop_;
  SeededRng rng_{1};
  MemoryFiles files_;
  std::string folder_ = "/tmp/muster-programs-XXXXXX";
  Server server_{loop_, rng_};
  std::unique_ptr<net::HttpServer> http_;
  std::unique_ptr<ProgramClient> client_;
};

TEST_F(ProgramClientTest, AsksAsTheUserAndReadsToTheEnd) {
  server_.says = {net::on_channel(Channel::Stdout, ""), net::on_channel(Channel::Stdout, "hi"),
                  net::on_channel(Channel::Stderr, "no"),
                  net::on_channel(Channel::Error, json::write(api::exit_status(5)))};
  auto program = open();
  ASSERT_TRUE(program) << program.error().message;
  EXPECT_EQ(server_.target,
            "/proxy/api/v1/namespaces/default/pods/p/exec?command=ls&command=-l&container=main&"
            "stdout=true");
  EXPECT_EQ(server_.authorization, "Bearer hidden");
  EXPECT_EQ(next(**program), "out hi");
  EXPECT_EQ(next(**program), "err no");
  EXPECT_EQ(next(**program), "exit 5");
}

TEST_F(ProgramClientTest, SaysInputItsEndAndTheSize) {
  server_.hears = 3;
  auto program = open().value();
  EXPECT_TRUE(loop_.run(program->write("in")));
  EXPECT_TRUE(loop_.run(program->resize({.columns = 80, .rows = 25})));
  EXPECT_TRUE(loop_.run(program->end_input()));
  EXPECT_TRUE(next(*program).contains("without saying how the program ended: 1001 enough"));
  EXPECT_EQ(server_.heard,
            (std::vector<std::string>{std::string("\0in", 3), "\4{\"Width\":80,\"Height\":25}",
                                      std::string("\xff\0", 2)}));
}

TEST_F(ProgramClientTest, InTheFourthVersionInputHasNoEnd) {
  server_.protocol = std::string(net::kChannelsV4);
  server_.hears = 1;
  auto program = open().value();
  EXPECT_TRUE(loop_.run(program->end_input()));
  EXPECT_TRUE(loop_.run(program->write("more")));
  next(*program);
  EXPECT_EQ(server_.heard, std::vector<std::string>{std::string("\0more", 5)});
}

TEST_F(ProgramClientTest, ARefusalIsTheServersAndTellsNoToken) {
  server_.protocol.clear();
  const auto refused = open();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::Forbidden);
  EXPECT_FALSE(refused.error().message.contains("hidden")) << refused.error().message;
}

}  // namespace
}  // namespace muster::cluster::kube
