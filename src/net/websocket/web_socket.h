#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/random.h"
#include "net/http.h"
#include "net/http_server.h"
#include "net/stream.h"
#include "net/websocket/frames.h"
#include "rt/loop.h"
#include "rt/task.h"
#include "rt/wait.h"

namespace muster::net {

// A connection that carries messages. One task reads and others write. Pings are answered while
// somebody reads. Lives on the loop of its stream; destroying it ends the connection.
class WebSocket {
 public:
  struct Options {
    WebSocketSide side = WebSocketSide::Server;  // ours
    std::string subprotocol;
    std::string received;  // what came with the end of the handshake
    std::size_t max_message_bytes = std::size_t{1} << 20U;
  };
  WebSocket(rt::Loop& loop, std::unique_ptr<Stream> stream, Rng& rng, Options options);

  [[nodiscard]] const std::string& subprotocol() const { return options_.subprotocol; }

  // The next Text or Binary message; nothing when the peer closed it as it should. Unavailable when
  // the connection broke; the peer is told of what it did wrong. A cancelled wait lost nothing.
  Task<Result<std::optional<WebSocketMessage>>> next();
  // Waits while the peer does not read.
  Task<Result<void>> send(WebSocketMessage::Kind kind, std::string_view bytes);
  // Says that this is the end, and reads for up to a second until the peer has said so too: an end
  // with bytes unread would take away what was sent last. Nobody else reads or writes any more.
  Task<void> close(WebSocketClose code, std::string reason);
  // Why the peer closed it, as far as it said so.
  [[nodiscard]] const std::string& peer_reason() const { return peer_reason_; }

 private:
  Task<Result<std::optional<WebSocketMessage>>> next_frame();
  Task<Result<void>> read_more();
  Task<Result<void>> write_message(WebSocketMessage::Kind kind, std::string_view bytes);
  Task<Result<void>> answer_ping(std::string bytes);

  rt::Loop& loop_;
  std::unique_ptr<Stream> stream_;
  Rng& rng_;
  Options options_;
  WebSocketReader reader_;
  std::string inbox_;  // read and not yet fed
  std::vector<char> buffer_;
  rt::Gate writing_;
  std::optional<std::string> owed_pong_;  // the newest one counts
  std::string peer_reason_;
  bool closed_by_peer_ = false;
};

// A server's side: answers 101 and goes on as a WebSocket, which must be gone when the handler
// returns. BadRequest: nothing was answered.
Task<Result<std::unique_ptr<WebSocket>>> accept_web_socket(rt::Loop& loop, Rng& rng,
                                                           const HttpRequest& request,
                                                           Responder& responder,
                                                           std::string subprotocol);

// A client's side: either a WebSocket, or the answer that refused one.
struct WebSocketAnswer {
  std::unique_ptr<WebSocket> socket;  // null: refused
  HttpResponse refusal;
};
// On a new connection, which must speak HTTP/1.1.
Task<Result<WebSocketAnswer>> open_web_socket(rt::Loop& loop, Rng& rng, Connector& connector,
                                              HttpRequest request,
                                              std::vector<std::string> subprotocols);

}  // namespace muster::net
