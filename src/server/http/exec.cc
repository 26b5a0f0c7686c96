#include "server/http/exec.h"

#include "api/exec.h"
#include "json/write.h"
#include "net/websocket/channels.h"
#include "server/http/answer.h"

namespace muster::server {
namespace {

constexpr std::string_view kNoSpdy =
    "exec is served over WebSocket only, not over SPDY: use kubectl 1.31 or newer, or 1.30 with "
    "KUBECTL_REMOTE_COMMAND_WEBSOCKETS=true";

std::string_view query_of(const net::HttpRequest& http) {
  const auto question = http.target.find('?');
  if (question == std::string::npos) return {};
  return std::string_view(http.target).substr(question + 1);
}

net::ChannelWords words() {
  return {
      .ended = [](const rt::ProgramExit& exit) { return json::write(api::exit_status(exit.code)); },
      .failed = [](const Error& error) { return json::write(error_status(error, nullptr)); },
      .window_size = [](std::string_view text) -> std::optional<rt::WindowSize> {
        const auto size = api::parse_terminal_size(text);
        if (!size) return std::nullopt;
        return rt::WindowSize{.columns = size->first, .rows = size->second};
      }};
}

}  // namespace

Task<Result<void>> serve_exec(Core& core, Rng& rng, const ApiRequest& request,
                              net::Responder& responder) {
  const net::HttpRequest& http = *request.http;
  // kubectl asks over SPDY when a WebSocket is refused, and shows the second answer: what is wrong
  // with the request itself comes first in both.
  auto options = CO_TRY(api::parse_exec_query(query_of(http), api::ExecNames::Pod));
  auto wanted = CO_TRY(core.place_program(request.key, std::move(options)));
  const std::string protocol = CO_TRY(net::choose_channels(http, kNoSpdy));
  auto program = CO_TRY(co_await core.exec(std::move(wanted)));
  const auto socket = co_await net::accept_web_socket(core.loop(), rng, http, responder, protocol);
  if (socket) co_await net::serve_program(core.loop(), **socket, *program, words());
  co_return Result<void>{};
}

}  // namespace muster::server
