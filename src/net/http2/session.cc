#include "net/http2/session.h"

#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <vector>

#include <fmt/format.h>
#include <boost/unordered/unordered_flat_map.hpp>

#include "base/check.h"
#include "base/strings.h"

namespace muster::net {

namespace {

constexpr int kMaxHeaderBlocks = 8;         // interim answers, the answer, trailers
constexpr std::size_t kFieldOverhead = 32;  // what HTTP/2 counts a field as, beside its text
constexpr std::uint32_t kMaxWindow = 0x7fffffff;

std::string_view view(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

nghttp2_nv field(std::string_view name, std::string_view value) {
  // nghttp2 copies both and does not write to them.
  return {reinterpret_cast<std::uint8_t*>(const_cast<char*>(name.data())),
          reinterpret_cast<std::uint8_t*>(const_cast<char*>(value.data())), name.size(),
          value.size(), NGHTTP2_NV_FLAG_NONE};
}

// Fields that belong to a connection have no place in HTTP/2.
bool is_connection_field(std::string_view name) {
  static constexpr std::array<std::string_view, 7> kNames = {
      "connection", "keep-alive", "proxy-connection", "transfer-encoding",
      "upgrade",    "host",       "content-length"};
  return std::ranges::any_of(kNames, [&](auto known) { return equal_ignoring_case(known, name); });
}

Error stream_error(std::uint32_t code) {
  return {.code = ErrorCode::Unavailable,
          .message = fmt::format("the server ended the stream: {}", nghttp2_http2_strerror(code))};
}

}  // namespace

struct Http2Session::Impl {
  explicit Impl(Options given) : options(std::move(given)) {}
  ~Impl() { nghttp2_session_del(session); }

  Http2Stream* find(std::int32_t id) {
    const auto found = streams.find(id);
    return found == streams.end() ? nullptr : found->second;
  }

  void end(Http2Stream& stream, std::optional<Error> error) {
    streams.erase(stream.id);
    stream.ended = true;
    stream.error = std::move(error);
    stream.changed();
  }

  // Refuses the rest of an answer that breaks a limit.
  void refuse(Http2Stream& stream, Error error) {
    nghttp2_submit_rst_stream(session, NGHTTP2_FLAG_NONE, stream.id, NGHTTP2_CANCEL);
    end(stream, std::move(error));
  }

  [[nodiscard]] std::vector<std::int32_t> ids() const {
    std::vector<std::int32_t> all;
    for (const auto& [id, stream] : streams) all.push_back(id);
    std::ranges::sort(all);  // whoever waited longest learns first what happened
    return all;
  }

  // After GOAWAY. What still waits for a stream would wait until one ends, for nothing.
  void leave() {
    goaway = true;
    for (const std::int32_t id : ids()) {
      Http2Stream& stream = *find(id);
      if (stream.head_sent) continue;
      stream.unprocessed = true;
      refuse(stream, {.code = ErrorCode::Unavailable, .message = "the server is leaving"});
    }
  }

  static Impl& of(void* user) { return *static_cast<Impl*>(user); }
  static int on_begin_headers(nghttp2_session*, const nghttp2_frame* frame, void* user);
  static int on_header(nghttp2_session*, const nghttp2_frame* frame, const std::uint8_t* name,
                       std::size_t name_size, const std::uint8_t* value, std::size_t value_size,
                       std::uint8_t, void* user);
  static int on_frame(nghttp2_session*, const nghttp2_frame* frame, void* user);
  static int on_frame_sent(nghttp2_session*, const nghttp2_frame* frame, void* user);
  static int on_data(nghttp2_session* session, std::uint8_t, std::int32_t id,
                     const std::uint8_t* data, std::size_t size, void* user);
  static int on_stream_close(nghttp2_session*, std::int32_t id, std::uint32_t code, void* user);
  static ssize_t read_body(nghttp2_session*, std::int32_t id, std::uint8_t* into, std::size_t size,
                           std::uint32_t* flags, nghttp2_data_source*, void* user);

  Options options;
  nghttp2_session* session = nullptr;
  boost::unordered_flat_map<std::int32_t, Http2Stream*> streams;
  bool goaway = false;
};

int Http2Session::Impl::on_begin_headers(nghttp2_session*, const nghttp2_frame* frame, void* user) {
  Http2Stream* stream = of(user).find(frame->hd.stream_id);
  if (stream == nullptr) return 0;
  if (++stream->header_blocks > kMaxHeaderBlocks) {
    of(user).refuse(*stream, {.code = ErrorCode::Parse, .message = "too many interim answers"});
  } else if (!stream->head_done) {
    stream->response.headers = {};  // what an interim answer carried does not count
  }
  return 0;
}

int Http2Session::Impl::on_header(nghttp2_session*, const nghttp2_frame* frame,
                                  const std::uint8_t* name, std::size_t name_size,
                                  const std::uint8_t* value, std::size_t value_size, std::uint8_t,
                                  void* user) {
  Http2Stream* stream = of(user).find(frame->hd.stream_id);
  if (stream == nullptr) return 0;
  stream->header_bytes += name_size + value_size + kFieldOverhead;
  if (stream->header_bytes > of(user).options.max_header_bytes) {
    of(user).refuse(
        *stream, {.code = ErrorCode::TooLarge, .message = "the head of the answer is too large"});
    return 0;
  }
  if (stream->head_done) return 0;  // trailers
  const auto name_text = view(name, name_size);
  const auto value_text = view(value, value_size);
  if (name_text == ":status") {
    int status = 0;
    std::from_chars(value_text.data(), value_text.data() + value_text.size(), status);
    stream->response.status = status;
  } else {
    stream->response.headers.add(std::string(name_text), std::string(value_text));
  }
  return 0;
}

int Http2Session::Impl::on_frame(nghttp2_session*, const nghttp2_frame* frame, void* user) {
  if (frame->hd.type == NGHTTP2_GOAWAY) of(user).leave();
  if (frame->hd.type != NGHTTP2_HEADERS) return 0;
  Http2Stream* stream = of(user).find(frame->hd.stream_id);
  if (stream == nullptr || stream->head_done || stream->response.status < 200) return 0;
  stream->head_done = true;
  if (stream->mode == Http2Stream::Mode::Pieces) stream->changed();
  return 0;
}

int Http2Session::Impl::on_frame_sent(nghttp2_session*, const nghttp2_frame* frame, void* user) {
  Http2Stream* stream =
      frame->hd.type == NGHTTP2_HEADERS ? of(user).find(frame->hd.stream_id) : nullptr;
  if (stream != nullptr) stream->head_sent = true;
  return 0;
}

int Http2Session::Impl::on_data(nghttp2_session* session, std::uint8_t, std::int32_t id,
                                const std::uint8_t* data, std::size_t size, void* user) {
  // The connection's window is given back at once, so that a slow reader holds only its own stream.
  nghttp2_session_consume_connection(session, size);
  Http2Stream* stream = of(user).find(id);
  if (stream == nullptr) return 0;
  if (stream->mode == Http2Stream::Mode::Pieces) {
    stream->response.body.append(view(data, size));
    stream->changed();
    return 0;
  }
  nghttp2_session_consume_stream(session, id, size);
  if (stream->response.body.size() + size > stream->max_body) {
    of(user).refuse(
        *stream, {.code = ErrorCode::TooLarge,
                  .message = fmt::format("the answer is larger than {} bytes", stream->max_body)});
    return 0;
  }
  stream->response.body.append(view(data, size));
  return 0;
}

int Http2Session::Impl::on_stream_close(nghttp2_session*, std::int32_t id, std::uint32_t code,
                                        void* user) {
  Http2Stream* stream = of(user).find(id);
  if (stream == nullptr) return 0;
  stream->unprocessed = code == NGHTTP2_REFUSED_STREAM && !stream->head_done;
  // A server may say NO_ERROR after a whole answer to a request that it did not read to the end.
  const bool whole = code == NGHTTP2_NO_ERROR && stream->head_done;
  of(user).end(*stream, whole ? std::nullopt : std::optional(stream_error(code)));
  return 0;
}

ssize_t Http2Session::Impl::read_body(nghttp2_session*, std::int32_t id, std::uint8_t* into,
                                      std::size_t size, std::uint32_t* flags, nghttp2_data_source*,
                                      void* user) {
  Http2Stream* stream = of(user).find(id);
  if (stream == nullptr) return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
  const auto& body = stream->request.body;
  const std::size_t count = std::min(size, body.size() - stream->body_sent);
  std::copy_n(body.data() + stream->body_sent, count, into);
  stream->body_sent += count;
  if (stream->body_sent == body.size()) *flags |= NGHTTP2_DATA_FLAG_EOF;
  return static_cast<ssize_t>(count);
}

Http2Session::Http2Session(Options options) : impl_(std::make_unique<Impl>(std::move(options))) {
  nghttp2_session_callbacks* callbacks = nullptr;
  nghttp2_option* option = nullptr;
  CHECK(nghttp2_session_callbacks_new(&callbacks) == 0 && nghttp2_option_new(&option) == 0);
  nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, Impl::on_begin_headers);
  nghttp2_session_callbacks_set_on_header_callback(callbacks, Impl::on_header);
  nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, Impl::on_frame);
  nghttp2_session_callbacks_set_on_frame_send_callback(callbacks, Impl::on_frame_sent);
  nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, Impl::on_data);
  nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, Impl::on_stream_close);
  nghttp2_option_set_no_auto_window_update(option, 1);
  // Closed streams are kept for the priority tree only, which we do not use.
  nghttp2_option_set_no_closed_streams(option, 1);
  CHECK(nghttp2_session_client_new2(&impl_->session, callbacks, impl_.get(), option) == 0);
  nghttp2_option_del(option);
  nghttp2_session_callbacks_del(callbacks);

  const auto stream_window =
      static_cast<std::uint32_t>(std::min<std::size_t>(impl_->options.stream_window, kMaxWindow));
  const auto header_bytes = static_cast<std::uint32_t>(
      std::min<std::size_t>(impl_->options.max_header_bytes, kMaxWindow));
  const std::array<nghttp2_settings_entry, 3> settings = {{
      {NGHTTP2_SETTINGS_ENABLE_PUSH, 0},
      {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, stream_window},
      {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, header_bytes},
  }};
  nghttp2_submit_settings(impl_->session, NGHTTP2_FLAG_NONE, settings.data(), settings.size());
  nghttp2_session_set_local_window_size(impl_->session, NGHTTP2_FLAG_NONE, 0,
                                        static_cast<std::int32_t>(std::min<std::size_t>(
                                            impl_->options.connection_window, kMaxWindow)));
}

Http2Session::~Http2Session() = default;

Result<void> Http2Session::submit(Http2Stream& stream) {
  const auto& request = stream.request;
  std::vector<nghttp2_nv> fields;
  fields.reserve(request.headers.size() + 5);
  fields.push_back(field(":method", request.method));
  fields.push_back(field(":scheme", impl_->options.scheme));
  const auto host = request.headers.get("host");
  fields.push_back(field(":authority", host ? *host : std::string_view(impl_->options.authority)));
  fields.push_back(field(":path", request.target));
  for (const auto& header : request.headers) {
    if (!is_connection_field(header.name)) fields.push_back(field(header.name, header.value));
  }
  const std::string length = std::to_string(request.body.size());
  if (!request.body.empty()) fields.push_back(field("content-length", length));
  nghttp2_data_provider body{.source = {}, .read_callback = Impl::read_body};
  const std::int32_t id =
      nghttp2_submit_request(impl_->session, nullptr, fields.data(), fields.size(),
                             request.body.empty() ? nullptr : &body, nullptr);
  if (id < 0) return fail(ErrorCode::Unavailable, nghttp2_strerror(id));
  stream.id = id;
  impl_->streams.emplace(id, &stream);
  return {};
}

void Http2Session::forget(Http2Stream& stream) {
  if (stream.id == 0 || impl_->streams.erase(stream.id) == 0) return;
  nghttp2_submit_rst_stream(impl_->session, NGHTTP2_FLAG_NONE, stream.id, NGHTTP2_CANCEL);
}

std::string Http2Session::take_body(Http2Stream& stream) {
  auto body = std::exchange(stream.response.body, {});
  if (!stream.ended) nghttp2_session_consume_stream(impl_->session, stream.id, body.size());
  return body;
}

Result<void> Http2Session::receive(std::string_view bytes) {
  const ssize_t taken = nghttp2_session_mem_recv(
      impl_->session, reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  if (taken < 0) {
    return fail(ErrorCode::Parse, fmt::format("the server does not speak HTTP/2 as it should: {}",
                                              nghttp2_strerror(static_cast<int>(taken))));
  }
  return {};
}

Result<void> Http2Session::output(std::string& out, std::size_t limit) {
  while (out.size() < limit) {
    const std::uint8_t* data = nullptr;
    const ssize_t size = nghttp2_session_mem_send(impl_->session, &data);
    if (size < 0) return fail(ErrorCode::Internal, nghttp2_strerror(static_cast<int>(size)));
    if (size == 0) return {};
    out.append(view(data, static_cast<std::size_t>(size)));
  }
  return {};
}

void Http2Session::ping() {
  nghttp2_submit_ping(impl_->session, NGHTTP2_FLAG_NONE, nullptr);
}

void Http2Session::fail_all(const Error& error) {
  for (const std::int32_t id : impl_->ids()) {
    if (Http2Stream* stream = impl_->find(id)) impl_->end(*stream, error);
  }
}

std::size_t Http2Session::streams() const {
  return impl_->streams.size();
}

std::size_t Http2Session::max_streams() const {
  return nghttp2_session_get_remote_settings(impl_->session,
                                             NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS);
}

bool Http2Session::accepts_requests() const {
  return !impl_->goaway && nghttp2_session_check_request_allowed(impl_->session) != 0;
}

}  // namespace muster::net
