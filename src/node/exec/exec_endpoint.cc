#include "node/exec/exec_endpoint.h"

#include "api/exec.h"
#include "api/status.h"
#include "base/strings.h"
#include "json/write.h"
#include "net/websocket/channels.h"
#include "net/websocket/handshake.h"

namespace muster::node {

namespace {

constexpr std::string_view kPrefix = "/exec/";
constexpr std::string_view kNoSpdy =
    "this node serves exec over WebSocket only, not over SPDY: API servers before 1.36 speak SPDY "
    "to nodes, and so does kubectl before 1.31";

net::ChannelWords words() {
  return {
      .ended = [](const rt::ProgramExit& exit) { return json::write(api::exit_status(exit.code)); },
      .failed = [](const Error& error) { return json::write(api::status_of(error)); },
      .window_size = [](std::string_view text) -> std::optional<rt::WindowSize> {
        const auto size = api::parse_terminal_size(text);
        if (!size) return std::nullopt;
        return rt::WindowSize{.columns = size->first, .rows = size->second};
      }};
}

}  // namespace

Result<ExecRequest> parse_exec_request(std::string_view target) {
  const auto question = target.find('?');
  const auto parts = split(target.substr(0, question), '/');
  if (parts.size() != 5 || !target.starts_with(kPrefix))
    return fail(ErrorCode::NotFound, "404 page not found");
  std::vector<std::string> names;
  for (std::size_t i = 2; i < parts.size(); ++i) {
    auto name = percent_decode(parts[i]);
    if (!name || name->empty() || name->contains('/'))
      return fail(ErrorCode::NotFound, "404 page not found");
    names.push_back(std::move(*name));
  }
  const auto query =
      question == std::string_view::npos ? std::string_view() : target.substr(question + 1);
  ExecRequest request{.pod = {.ns = names[0], .name = names[1]},
                      .options = TRY(api::parse_exec_query(query, api::ExecNames::Node))};
  request.options.container = names[2];
  return request;
}

Task<void> ExecEndpoint::handle(const net::HttpRequest& request, net::Responder& responder) {
  if (!request.target.starts_with(kPrefix)) {
    co_await others_.handle(request, responder);
    co_return;
  }
  const auto served = co_await serve(request, responder);
  if (served) co_return;
  // A Status, which the API server hands on to its client as it is.
  net::HttpResponse answer{.status = api::http_code(served.error().code),
                           .headers = {{"Content-Type", "application/json"}},
                           .body = json::write(api::status_of(served.error())) + "\n"};
  [[maybe_unused]] const auto sent = co_await responder.respond(std::move(answer));
}

Task<Result<void>> ExecEndpoint::serve(const net::HttpRequest& request, net::Responder& responder) {
  if (request.method != "GET" && request.method != "POST")
    co_return fail(ErrorCode::MethodNotAllowed, "only GET and POST are known here");
  ExecRequest wanted = CO_TRY(parse_exec_request(request.target));
  const auto pod = find_pod_(wanted.pod);
  if (!pod) co_return fail(ErrorCode::NotFound, "pod does not exist");
  CO_TRY(api::exec_container(*pod, wanted.options.container));
  const std::string protocol = CO_TRY(net::choose_channels(request, kNoSpdy));
  auto program = CO_TRY(co_await programs_.open(pod, std::move(wanted.options)));
  const auto socket = co_await net::accept_web_socket(loop_, rng_, request, responder, protocol);
  if (socket) co_await net::serve_program(loop_, **socket, *program, words());
  co_return Result<void>{};
}

}  // namespace muster::node
