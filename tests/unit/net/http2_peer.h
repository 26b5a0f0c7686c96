#pragma once

#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <array>
#include <list>
#include <map>
#include <string>

#include "net/stream.h"
#include "rt/scope.h"

// The server's side of HTTP/2 as nghttp2 plays it, over real TLS sockets, with a will of its own:
// paths say how it misbehaves. One per test, on the test's loop.
namespace muster::net::testing {

class Http2Peer {
 public:
  struct Options {
    std::uint32_t max_streams = 100;
  };

  Http2Peer(rt::RealLoop& loop, std::unique_ptr<Listener> listener, Options options)
      : loop_(loop), listener_(std::move(listener)), options_(options), scope_(loop) {
    scope_.spawn(accept_loop());
  }
  Task<void> close() {
    listener_->close();
    for (auto& connection : connections_) connection.stream->close();
    co_await scope_.close();
  }

  [[nodiscard]] std::uint16_t port() const { return listener_->port(); }
  [[nodiscard]] std::size_t accepted() const { return connections_.size(); }
  // On every connection: no stream after `last` was or will be handled.
  void goaway(std::int32_t last) {
    for (auto& connection : connections_) {
      nghttp2_submit_goaway(connection.session, NGHTTP2_FLAG_NONE, last, NGHTTP2_NO_ERROR, nullptr,
                            0);
      connection.dirty.set();
    }
  }
  // Releases the answers that /hold keeps back.
  void release() {
    held = false;
    for (auto& connection : connections_) {
      for (const auto& [id, path] : connection.paths) {
        if (path == "/hold") answer(connection, id);
      }
      connection.dirty.set();
    }
  }

  bool mute = false;  // reads nothing and writes nothing, the connections stay
  bool held = true;
  std::size_t flooded = 0;
  std::size_t requests = 0;
  std::size_t resets = 0;
  std::size_t ended = 0;  // connections, by the client
  std::size_t most_streams = 0;

 private:
  struct Connection {
    Connection(Http2Peer& owner, std::unique_ptr<Stream> with)
        : peer(owner), stream(std::move(with)), dirty(owner.loop_) {}
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;
    ~Connection() { nghttp2_session_del(session); }
    Http2Peer& peer;
    std::unique_ptr<Stream> stream;
    rt::Event dirty;
    nghttp2_session* session = nullptr;
    std::map<std::int32_t, std::string> paths;
  };

  static nghttp2_nv field(std::string_view name, std::string_view value) {
    return {reinterpret_cast<std::uint8_t*>(const_cast<char*>(name.data())),
            reinterpret_cast<std::uint8_t*>(const_cast<char*>(value.data())), name.size(),
            value.size(), 0};
  }

  static ssize_t produce(nghttp2_session*, std::int32_t id, std::uint8_t* into, std::size_t size,
                         std::uint32_t* flags, nghttp2_data_source*, void* user) {
    auto& connection = *static_cast<Connection*>(user);
    const auto& path = connection.paths[id];
    if (path == "/flood") {
      std::fill_n(into, size, std::uint8_t{'x'});
      connection.peer.flooded += size;
      return static_cast<ssize_t>(size);
    }
    if (path == "/silent") return NGHTTP2_ERR_DEFERRED;
    *flags |= NGHTTP2_DATA_FLAG_EOF;
    into[0] = 'k';
    return 1;
  }

  static void answer(Connection& connection, std::int32_t id) {
    const auto& path = connection.paths[id];
    const std::string big(path == "/big-head" ? 50'000U : 1U, 'h');
    const std::array<nghttp2_nv, 2> fields = {field(":status", "200"), field("x-pad", big)};
    nghttp2_data_provider body{.source = {}, .read_callback = produce};
    nghttp2_submit_response(connection.session, id, fields.data(), fields.size(), &body);
  }

  static int on_header(nghttp2_session*, const nghttp2_frame* frame, const std::uint8_t* name,
                       std::size_t name_size, const std::uint8_t* value, std::size_t value_size,
                       std::uint8_t, void* user) {
    auto& connection = *static_cast<Connection*>(user);
    if (std::string_view(reinterpret_cast<const char*>(name), name_size) == ":path") {
      connection.paths[frame->hd.stream_id] =
          std::string(reinterpret_cast<const char*>(value), value_size);
    }
    return 0;
  }

  static int on_frame(nghttp2_session* session, const nghttp2_frame* frame, void* user) {
    auto& connection = *static_cast<Connection*>(user);
    auto& peer = connection.peer;
    if (frame->hd.type == NGHTTP2_RST_STREAM) ++peer.resets;
    const bool whole = (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0;
    if (!whole || (frame->hd.type != NGHTTP2_HEADERS && frame->hd.type != NGHTTP2_DATA)) return 0;
    ++peer.requests;
    peer.most_streams = std::max(peer.most_streams, connection.paths.size());
    const auto& path = connection.paths[frame->hd.stream_id];
    if (path == "/refuse") {
      nghttp2_submit_rst_stream(session, 0, frame->hd.stream_id, NGHTTP2_INTERNAL_ERROR);
    } else if (path != "/hold" || !peer.held) {
      answer(connection, frame->hd.stream_id);
    }
    return 0;
  }

  static int on_close(nghttp2_session*, std::int32_t id, std::uint32_t, void* user) {
    static_cast<Connection*>(user)->paths.erase(id);
    return 0;
  }

  Task<void> accept_loop() {
    while (true) {
      auto stream = co_await listener_->accept();
      if (!stream) co_return;
      auto& connection = connections_.emplace_back(*this, std::move(*stream));
      nghttp2_session_callbacks* callbacks = nullptr;
      nghttp2_session_callbacks_new(&callbacks);
      nghttp2_session_callbacks_set_on_header_callback(callbacks, on_header);
      nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, on_frame);
      nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, on_close);
      nghttp2_session_server_new(&connection.session, callbacks, &connection);
      nghttp2_session_callbacks_del(callbacks);
      const nghttp2_settings_entry entry{NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS,
                                         options_.max_streams};
      nghttp2_submit_settings(connection.session, 0, &entry, 1);
      scope_.spawn(read_loop(connection));
      scope_.spawn(write_loop(connection));
    }
  }

  Task<void> read_loop(Connection& connection) {
    std::vector<char> buffer(65536);
    while (true) {
      const auto count = co_await connection.stream->read(buffer);
      if (!count || *count == 0) {
        ++ended;
        co_return;
      }
      if (mute) continue;
      nghttp2_session_mem_recv(connection.session, reinterpret_cast<std::uint8_t*>(buffer.data()),
                               *count);
      connection.dirty.set();
    }
  }

  Task<void> write_loop(Connection& connection) {
    while (true) {
      connection.dirty.reset();
      const std::uint8_t* data = nullptr;
      const ssize_t size = mute ? 0 : nghttp2_session_mem_send(connection.session, &data);
      if (size <= 0) {
        if (!co_await connection.dirty.wait()) co_return;
        continue;
      }
      const std::string bytes(reinterpret_cast<const char*>(data), static_cast<std::size_t>(size));
      if (!co_await connection.stream->write(bytes)) co_return;
    }
  }

  rt::RealLoop& loop_;
  std::unique_ptr<Listener> listener_;
  Options options_;
  std::list<Connection> connections_;
  rt::TaskScope scope_;
};

}  // namespace muster::net::testing
