#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "net/websocket/web_socket.h"
#include "rt/remote_program.h"
#include "rt/task.h"

// A program's streams as the channels of a WebSocket, the way Kubernetes does exec: each message
// begins with a byte that names its channel.
namespace muster::net {

enum class Channel : std::uint8_t {
  Stdin = 0,
  Stdout = 1,
  Stderr = 2,
  Error = 3,   // one Status, when the program has ended
  Resize = 4,  // {"Width": 80, "Height": 25}
  End = 255,   // since v5: the channel that the next byte names has ended
};

inline constexpr std::string_view kChannelsV5 = "v5.channel.k8s.io";
inline constexpr std::string_view kChannelsV4 = "v4.channel.k8s.io";
// Preferred first.
std::vector<std::string> channel_subprotocols();

// Which of them a request and we both speak. BadRequest says why none: it asks for no WebSocket
// (`no_spdy` when for SPDY), or offers none of ours, or is not a proper one.
Result<std::string> choose_channels(const HttpRequest& request, std::string_view no_spdy);

std::string on_channel(Channel channel, std::string_view bytes);

// What is said in JSON, which this room cannot read or write.
struct ChannelWords {
  std::function<std::string(const rt::ProgramExit&)> ended;
  std::function<std::string(const Error&)> failed;  // how it ended is not known
  std::function<std::optional<rt::WindowSize>(std::string_view)> window_size;
};

// A server's side: carries everything to and fro until the program ends or the client goes. The
// program is still to be destroyed, which ends it.
Task<void> serve_program(rt::Loop& loop, WebSocket& socket, rt::RemoteProgram& program,
                         ChannelWords words);

}  // namespace muster::net
