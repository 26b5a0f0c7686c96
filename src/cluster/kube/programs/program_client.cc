#include "cluster/kube/programs/program_client.h"

#include <fmt/format.h>

#include "api/exec.h"
#include "cluster/kube/answers.h"
#include "cluster/kube/requests.h"
#include "json/read.h"
#include "net/websocket/channels.h"
#include "net/websocket/web_socket.h"
#include "rt/wait.h"

namespace muster::cluster::kube {
namespace {

using net::Channel;

// What other servers read in one message, and well below what they refuse.
constexpr std::size_t kPieceBytes = std::size_t{32} << 10U;

// A program as the channels of a WebSocket, from the client's side.
class ChannelProgram final : public rt::RemoteProgram {
 public:
  explicit ChannelProgram(std::unique_ptr<net::WebSocket> socket) : socket_(std::move(socket)) {}

  Task<Result<Event>> next() override {
    while (true) {
      auto message = CO_TRY(co_await socket_->next());
      if (!message) co_return ended_early();
      if (message->bytes.empty()) continue;
      const auto channel = static_cast<Channel>(static_cast<std::uint8_t>(message->bytes.front()));
      std::string bytes = message->bytes.substr(1);
      if (channel == Channel::Error && !bytes.empty()) co_return read_end(bytes);
      if (bytes.empty()) continue;  // servers say so that a channel is open
      if (channel == Channel::Stdout) co_return rt::ProgramOutput{.bytes = std::move(bytes)};
      if (channel == Channel::Stderr) {
        co_return rt::ProgramOutput{.stream = rt::ProgramOutput::Stream::Stderr,
                                    .bytes = std::move(bytes)};
      }
    }
  }

  Task<Result<void>> write(std::string bytes) override {
    std::string_view rest = bytes;
    while (!rest.empty()) {
      CO_TRY(co_await say(Channel::Stdin, rest.substr(0, kPieceBytes)));
      rest.remove_prefix(std::min(rest.size(), kPieceBytes));
    }
    co_return Result<void>{};
  }

  // Before v5 there was no word for it: the program waits for input that never comes.
  Task<Result<void>> end_input() override {
    if (socket_->subprotocol() != net::kChannelsV5) co_return Result<void>{};
    co_return co_await say(Channel::End, std::string(1, static_cast<char>(Channel::Stdin)));
  }

  Task<Result<void>> resize(rt::WindowSize size) override {
    co_return co_await say(Channel::Resize, api::terminal_size(size.columns, size.rows));
  }

 private:
  Task<Result<void>> say(Channel channel, std::string_view bytes) {
    const std::string message = net::on_channel(channel, bytes);
    co_return co_await socket_->send(net::WebSocketMessage::Kind::Binary, message);
  }

  static Result<Event> read_end(const std::string& text) {
    const auto status = json::read(text);
    // Some servers say an error in plain words.
    if (!status || !status->is_object()) return fail(ErrorCode::Internal, text);
    return rt::ProgramExit{.code = TRY(api::exit_code_of_status(*status))};
  }

  std::unexpected<Error> ended_early() const {
    const auto& reason = socket_->peer_reason();
    return fail(ErrorCode::Unavailable,
                fmt::format("the server ended the session without saying how the program ended{}{}",
                            reason.empty() ? "" : ": ", reason));
  }

  std::unique_ptr<net::WebSocket> socket_;
};

}  // namespace

ProgramClient::ProgramClient(rt::Loop& loop, std::unique_ptr<net::Connector> connector,
                             std::shared_ptr<Credentials> credentials, Rng& rng, Options options)
    : loop_(loop),
      connector_(std::move(connector)),
      credentials_(std::move(credentials)),
      rng_(rng),
      options_(std::move(options)) {}

net::HttpRequest ProgramClient::request_of(const api::ObjectKey& pod,
                                           const api::ExecOptions& options) const {
  net::HttpRequest request{.target = fmt::format("{}{}/exec?{}", options_.prefix,
                                                 object_path(api::pods(), pod),
                                                 api::exec_query(options))};
  request.headers.add("accept", "application/json, */*");
  request.headers.add("user-agent", options_.user_agent);
  const Secret& token = credentials_->token();
  if (!token.empty()) request.headers.add("authorization", "Bearer " + token.reveal());
  return request;
}

Task<Result<std::unique_ptr<rt::RemoteProgram>>> ProgramClient::open(api::ObjectKey pod,
                                                                     api::ExecOptions options) {
  for (bool as_another = false;; as_another = true) {
    CO_TRY(co_await credentials_->refresh());
    const std::uint64_t presented = credentials_->version();
    auto opening = net::open_web_socket(loop_, rng_, *connector_, request_of(pod, options),
                                        net::channel_subprotocols());
    auto answer = co_await rt::with_timeout(loop_, options_.request_timeout, std::move(opening));
    if (!answer) co_return fail(answer.error().in(connector_->describe()));
    if (answer->socket) co_return std::make_unique<ChannelProgram>(std::move(answer->socket));
    Error refused = read_error(answer->refusal.status, answer->refusal.body, "");
    if (refused.code == ErrorCode::Unauthorized && !as_another && credentials_->refused(presented))
      continue;
    refused.message = credentials_->redacted(std::move(refused.message));
    co_return fail(std::move(refused));
  }
}

}  // namespace muster::cluster::kube
