#include "net/http_client.h"

#include <algorithm>
#include <deque>
#include <set>
#include <vector>

#include <fmt/format.h>

#include "net/http1/answer.h"
#include "net/http1/connection.h"
#include "net/http2/connection.h"
#include "rt/scope.h"

namespace muster::net {

namespace {

// How often a request is sent again that no server has looked at.
constexpr int kMaxTries = 3;

bool may_repeat(const HttpRequest& request) {
  return request.method == "GET" || request.method == "HEAD";
}

}  // namespace

class HttpClient::Impl {
 public:
  Impl(rt::Loop& loop, std::unique_ptr<Connector> connector, HttpClientOptions options)
      : loop_(loop),
        connector_(std::move(connector)),
        options_(options),
        name_(connector_->describe()),
        authority_(connector_->authority()),
        http1_(connector_->scheme() != "https"),
        http1_gate_(loop, options.http1_connections),
        answers_(std::make_shared<OpenConnections>()),
        scope_(loop),
        unused_(loop) {}

  Task<Result<HttpResponse>> send(HttpRequest request) {
    const Use use(*this);
    CO_TRY(check_sendable(request));
    for (int tries = 0; tries < kMaxTries; ++tries) {
      bool again = false;
      const auto connection = CO_TRY(co_await http2_connection());
      if (connection) {
        auto response =
            co_await Http2Connection::send(connection, request, options_.max_body_bytes, again);
        if (!again) co_return response;
      } else {
        auto response = co_await send_http1(request, again);
        if (!again) co_return response;
      }
    }
    co_return refused();
  }

  Task<Result<std::unique_ptr<ResponseStream>>> open(HttpRequest request) {
    const Use use(*this);
    CO_TRY(check_sendable(request));
    for (int tries = 0; tries < kMaxTries; ++tries) {
      bool again = false;
      const auto connection = CO_TRY(co_await http2_connection());
      if (connection) {
        auto response = co_await Http2Connection::open(connection, request, again);
        if (!again) co_return response;
      } else {
        auto response = co_await open_http1(request, again);
        if (!again) co_return response;
      }
    }
    co_return refused();
  }

  void renew_connections() {
    ++era_;
    idle_.clear();
    // One that has nothing to do ends in here, which takes it out of the list later.
    for (const auto& connection : http2_) connection->drain();
  }

  Task<void> close() {
    closed_ = true;
    for (auto* connection : *answers_) connection->close();
    for (auto* connection : busy_) connection->close();
    idle_.clear();
    co_await scope_.close();
    while (users_ > 0) {
      unused_.reset();
      auto wait = unused_.wait().with_stop(std::stop_token());
      [[maybe_unused]] const auto waited = co_await std::move(wait);
    }
  }

  [[nodiscard]] const std::string& name() const { return name_; }

 private:
  // Counts the calls inside, so that close() can wait for them.
  class Use {
   public:
    explicit Use(Impl& impl) : impl_(impl) { ++impl_.users_; }
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;
    ~Use() {
      if (--impl_.users_ == 0) impl_.unused_.set();
    }

   private:
    Impl& impl_;
  };

  // Lets close() reach a connection that a request waits on.
  class Busy {
   public:
    Busy(Impl& impl, Http1Connection& connection) : impl_(impl), connection_(&connection) {
      impl_.busy_.insert(connection_);
    }
    Busy(const Busy&) = delete;
    Busy& operator=(const Busy&) = delete;
    ~Busy() { impl_.busy_.erase(connection_); }

   private:
    Impl& impl_;
    Http1Connection* connection_;
  };

  // A connection that several requests wait for.
  struct Attempt {
    explicit Attempt(rt::Loop& loop) : done(loop) {}
    rt::Event done;
    std::optional<Error> error;
  };

  struct Idle {
    std::unique_ptr<Http1Connection> connection;
    Monotonic since;
  };

  Error gone() const {
    return {.code = ErrorCode::Unavailable, .message = name_ + ": the client was closed"};
  }
  std::unexpected<Error> refused() const {
    return fail(ErrorCode::Unavailable, fmt::format("{}: refused {} times", name_, kMaxTries));
  }

  Task<void> run(std::shared_ptr<Http2Connection> connection) {
    co_await connection->run();
    std::erase(http2_, connection);
  }

  void adopt(std::unique_ptr<Stream> stream) {
    http1_ = stream->protocol() != "h2";
    if (http1_) {
      keep(std::make_unique<Http1Connection>(std::move(stream)), era_);
      return;
    }
    Http2Connection::Options options{.session = {.scheme = connector_->scheme(),
                                                 .authority = authority_,
                                                 .max_header_bytes = options_.max_header_bytes,
                                                 .stream_window = options_.stream_window,
                                                 .connection_window = options_.connection_window},
                                     .ping_interval = options_.ping_interval,
                                     .ping_deadline = options_.ping_deadline,
                                     .name = name_};
    auto connection =
        std::make_shared<Http2Connection>(loop_, std::move(stream), std::move(options));
    http2_.push_back(connection);
    scope_.spawn(run(std::move(connection)));
  }

  Task<void> connect(std::shared_ptr<Attempt> attempt) {
    std::uint64_t era = era_;
    auto stream = co_await connector_->connect();
    while (stream && era != era_ && !closed_) {
      era = era_;
      stream = co_await connector_->connect();
    }
    attempt_.reset();
    if (closed_) {
      attempt->error = gone();
    } else if (!stream) {
      attempt->error = stream.error();
    } else {
      adopt(std::move(*stream));
    }
    attempt->done.set();
  }

  std::shared_ptr<Attempt> current_attempt() {
    if (!attempt_) {
      attempt_ = std::make_shared<Attempt>(loop_);
      scope_.spawn(connect(attempt_));
    }
    return attempt_;
  }

  // The least loaded one. When none has room, another is opened for those who come later: waiting
  // for its handshake costs more than waiting for a stream.
  std::shared_ptr<Http2Connection> pick_http2() {
    std::shared_ptr<Http2Connection> best;
    int usable = 0;
    for (const auto& connection : http2_) {
      if (!connection->usable()) continue;
      ++usable;
      if (!best || connection->load() < best->load()) best = connection;
    }
    if (best && !best->has_room() && usable < options_.http2_connections) current_attempt();
    return best;
  }

  // Nothing when the endpoint speaks HTTP/1.1.
  Task<Result<std::shared_ptr<Http2Connection>>> http2_connection() {
    for (int tries = 0; tries < kMaxTries; ++tries) {
      if (closed_) co_return fail(gone());
      if (auto connection = pick_http2()) co_return connection;
      if (http1_) co_return std::shared_ptr<Http2Connection>();
      const auto attempt = current_attempt();
      CO_TRY(co_await attempt->done.wait());
      if (attempt->error) co_return fail(*attempt->error);
    }
    co_return refused();
  }

  void keep(std::unique_ptr<Http1Connection> connection, std::uint64_t era) {
    if (closed_ || era != era_ || !connection->reusable()) return;
    if (idle_.size() >= options_.http1_idle) idle_.pop_front();
    idle_.push_back({std::move(connection), loop_.monotonic()});
  }

  std::unique_ptr<Http1Connection> take_idle() {
    while (!idle_.empty()) {
      Idle newest = std::move(idle_.back());
      idle_.pop_back();
      const bool fresh = loop_.monotonic() - newest.since < options_.http1_idle_for;
      if (fresh && newest.connection->reusable()) return std::move(newest.connection);
    }
    return nullptr;
  }

  // Nothing when ALPN gave HTTP/2 this time.
  Task<Result<std::unique_ptr<Http1Connection>>> connect_http1() {
    auto stream = CO_TRY(co_await connector_->connect());
    if (closed_) co_return fail(gone());
    if (stream->protocol() == "h2") {
      adopt(std::move(stream));
      co_return std::unique_ptr<Http1Connection>();
    }
    co_return std::make_unique<Http1Connection>(std::move(stream));
  }

  // Gives a connection on which the head of the answer has arrived. A kept connection may have died
  // unseen; a request that may be repeated then goes to a new one.
  Task<Result<std::unique_ptr<Http1Connection>>> start_http1(const HttpRequest& request,
                                                             bool& again) {
    const Http1Limits limits{.header_bytes = options_.max_header_bytes,
                             .body_bytes = options_.max_body_bytes};
    auto connection = take_idle();
    const bool kept = connection != nullptr;
    if (!kept) connection = CO_TRY(co_await connect_http1());
    if (!connection) {
      again = true;
      co_return std::unique_ptr<Http1Connection>();
    }
    Result<void> started;
    {
      const Busy busy(*this, *connection);
      started = co_await connection->start(request, authority_, limits);
    }
    if (started) co_return std::move(connection);
    const bool stale =
        kept && !connection->answered() && started.error().code == ErrorCode::Unavailable;
    if (stale && may_repeat(request) && !closed_) {
      idle_.clear();  // they were opened to the same server
      again = true;
    }
    co_return fail(started.error().in(name_));
  }

  Task<Result<HttpResponse>> send_http1(const HttpRequest& request, bool& again) {
    const auto permit = CO_TRY(co_await http1_gate_.enter());
    if (closed_) co_return fail(gone());
    const std::uint64_t era = era_;
    auto connection = CO_TRY(co_await start_http1(request, again));
    if (!connection) co_return refused();
    Result<HttpResponse> response;
    {
      const Busy busy(*this, *connection);
      response = co_await connection->rest();
    }
    if (!response) co_return fail(response.error().in(name_));
    keep(std::move(connection), era);
    co_return response;
  }

  Task<Result<std::unique_ptr<ResponseStream>>> open_http1(const HttpRequest& request,
                                                           bool& again) {
    auto connection = CO_TRY(co_await start_http1(request, again));
    if (!connection) co_return refused();
    co_return std::unique_ptr<ResponseStream>(
        std::make_unique<Http1Answer>(std::move(connection), answers_, name_));
  }

  rt::Loop& loop_;
  std::unique_ptr<Connector> connector_;
  HttpClientOptions options_;
  std::string name_;
  std::string authority_;
  bool http1_;
  bool closed_ = false;
  std::uint64_t era_ = 0;  // of renew_connections()
  std::vector<std::shared_ptr<Http2Connection>> http2_;
  std::shared_ptr<Attempt> attempt_;
  std::deque<Idle> idle_;
  rt::Gate http1_gate_;
  std::set<Http1Connection*> busy_;
  std::shared_ptr<OpenConnections> answers_;
  rt::TaskScope scope_;
  std::size_t users_ = 0;
  rt::Event unused_;
};

HttpClient::HttpClient(rt::Loop& loop, std::unique_ptr<Connector> connector,
                       HttpClientOptions options)
    : impl_(std::make_unique<Impl>(loop, std::move(connector), options)) {}
HttpClient::~HttpClient() = default;

Task<Result<HttpResponse>> HttpClient::send(HttpRequest request) {
  return impl_->send(std::move(request));
}
Task<Result<std::unique_ptr<ResponseStream>>> HttpClient::open(HttpRequest request) {
  return impl_->open(std::move(request));
}
void HttpClient::renew_connections() {
  impl_->renew_connections();
}
Task<void> HttpClient::close() {
  return impl_->close();
}
std::string HttpClient::describe() const {
  return impl_->name();
}

}  // namespace muster::net
