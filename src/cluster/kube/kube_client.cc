#include "cluster/kube/kube_client.h"

#include <fmt/format.h>

#include "cluster/kube/answers.h"

namespace muster::cluster::kube {
namespace {

bool is_success(int status) {
  return status >= 200 && status < 300;
}

Result<int> status_of(const Result<net::HttpResponse>& answer) {
  return answer ? Result<int>(answer->status) : fail(answer.error());
}
Result<int> status_of(const Result<std::unique_ptr<net::ResponseStream>>& stream) {
  return stream ? Result<int>((*stream)->status()) : fail(stream.error());
}

// Reads what an error answer says, but no more than a Status can be long.
Task<Result<std::string>> read_some(net::ResponseStream& stream) {
  constexpr std::size_t kMostBytes = std::size_t{64} << 10U;
  std::string body;
  while (body.size() < kMostBytes) {
    auto chunk = CO_TRY(co_await stream.next());
    if (!chunk) break;
    body += *chunk;
  }
  co_return body;
}

}  // namespace

KubeClient::KubeClient(rt::Loop& loop, std::unique_ptr<Transport> reads,
                       std::unique_ptr<Transport> writes, std::shared_ptr<Credentials> credentials,
                       Rng& rng, KubeClientOptions options)
    : loop_(loop),
      reads_(std::move(reads)),
      writes_(std::move(writes)),
      credentials_(std::move(credentials)),
      connection_version_(credentials_->connection_version()),
      rng_(rng),
      options_(std::move(options)),
      limiter_(loop, options_.limiter) {}

Task<Result<std::string>> KubeClient::call(Call call) {
  Attempts attempts{.begun = loop_.monotonic()};
  while (true) {
    auto answer = co_await attempt_call(call);
    if (answer) co_return std::move(*answer);
    CO_TRY(co_await before_next(call, std::move(answer).error(), attempts));
  }
}

Task<Result<std::unique_ptr<net::ResponseStream>>> KubeClient::open(Call call) {
  Attempts attempts{.begun = loop_.monotonic()};
  while (true) {
    auto stream = co_await attempt_open(call);
    if (stream) co_return std::move(*stream);
    CO_TRY(co_await before_next(call, std::move(stream).error(), attempts));
  }
}

Task<Result<void>> KubeClient::before_next(const Call& call, Failure failure, Attempts& attempts) {
  // Who is nobody was not let in: a write was not done either.
  const bool nobody = failure.answered && failure.error.code == ErrorCode::Unauthorized;
  if (nobody && !attempts.as_another && credentials_->refused(failure.credentials)) {
    attempts.as_another = true;
    co_return Result<void>{};
  }
  const Duration elapsed = loop_.monotonic() - attempts.begun;
  RetryOptions patience = options_.retry;
  if (!answered_) patience.total = patience.first_contact;
  const auto delay = retry_delay(call.effect, failure.error, failure.answered, attempts.made++,
                                 elapsed, rng_, patience);
  if (!delay) {
    failure.error.message = credentials_->redacted(std::move(failure.error.message));
    for (auto& cause : failure.error.causes)
      cause.message = credentials_->redacted(std::move(cause.message));
    co_return fail(std::move(failure.error));
  }
  co_return co_await rt::sleep_for(loop_, *delay);
}

Task<KubeClient::Attempt<std::string>> KubeClient::attempt_call(const Call& call) {
  if (call.urgent) co_return co_await send_now(call);
  const auto permit = co_await limiter_.enter();
  if (!permit) co_return std::unexpected(Failure{permit.error()});
  co_return co_await send_now(call);
}

Task<KubeClient::Attempt<std::string>> KubeClient::send_now(const Call& call) {
  if (const auto ready = co_await be_somebody(); !ready)
    co_return std::unexpected(Failure{ready.error()});
  const std::uint64_t presented = credentials_->version();
  net::HttpRequest request = request_of(call);
  const Monotonic sent_at = loop_.monotonic();
  // After every wait and right before sending: whatever was decided earlier may be out of date.
  if (const auto allowed = check_fence(call); !allowed)
    co_return std::unexpected(Failure{allowed.error()});
  auto answer = co_await rt::with_timeout(loop_, options_.request_timeout,
                                          transport_for(call).send(std::move(request)));
  const Duration latency = loop_.monotonic() - sent_at;
  count(call, status_of(answer), sent_at);
  if (!answer) {
    const bool overload = answer.error().code == ErrorCode::Timeout;
    if (overload && !call.urgent) limiter_.record(latency, true, loop_.monotonic());
    co_return std::unexpected(Failure{std::move(answer).error()});
  }
  answered_ = true;
  if (is_success(answer->status)) {
    if (!call.urgent) limiter_.record(latency, false, loop_.monotonic());
    co_return std::move(answer->body);
  }
  Error error =
      read_error(answer->status, answer->body, answer->headers.get("retry-after").value_or(""));
  if (!call.urgent) limiter_.record(latency, is_refusal(error), loop_.monotonic());
  co_return std::unexpected(Failure{std::move(error), true, presented});
}

Task<KubeClient::Attempt<std::unique_ptr<net::ResponseStream>>> KubeClient::attempt_open(
    const Call& call) {
  if (const auto ready = co_await be_somebody(); !ready)
    co_return std::unexpected(Failure{ready.error()});
  const std::uint64_t presented = credentials_->version();
  const Monotonic sent_at = loop_.monotonic();
  auto stream =
      co_await rt::with_timeout(loop_, options_.request_timeout, reads_->open(request_of(call)));
  count(call, status_of(stream), sent_at);
  if (!stream) co_return std::unexpected(Failure{std::move(stream).error()});
  answered_ = true;
  if (is_success((*stream)->status())) co_return std::move(*stream);
  auto body = co_await rt::with_timeout(loop_, options_.request_timeout, read_some(**stream));
  if (!body) co_return std::unexpected(Failure{std::move(body).error()});
  const auto retry_after = (*stream)->headers().get("retry-after").value_or("");
  co_return std::unexpected(
      Failure{read_error((*stream)->status(), *body, retry_after), true, presented});
}

Task<void> KubeClient::close() {
  if (writes_) co_await writes_->close();
  co_await reads_->close();
  co_await credentials_->close();
}

Task<Result<void>> KubeClient::be_somebody() {
  CO_TRY(co_await credentials_->refresh());
  if (connection_version_ == credentials_->connection_version()) co_return Result<void>{};
  connection_version_ = credentials_->connection_version();
  reads_->renew_connections();
  if (writes_) writes_->renew_connections();
  co_return Result<void>{};
}

net::HttpRequest KubeClient::request_of(const Call& call) {
  net::HttpRequest request{
      .method = call.method, .target = options_.prefix + call.target, .body = call.body};
  // A log is not JSON, and there is no other thing to ask for.
  request.headers.add("accept", "application/json, */*");
  request.headers.add("user-agent", options_.user_agent);
  if (!call.body.empty()) request.headers.add("content-type", "application/json");
  const Secret& token = credentials_->token();
  if (!token.empty()) request.headers.add("authorization", "Bearer " + token.reveal());
  return request;
}

void KubeClient::count(const Call& call, const Result<int>& status, Monotonic sent_at) {
  if (options_.counts == nullptr) return;
  if (!status && status.error().code == ErrorCode::Cancelled) return;
  options_.counts->record(call.method, status.value_or(0), loop_.monotonic() - sent_at);
}

Result<void> KubeClient::check_fence(const Call& call) const {
  const bool asks = call.effect == Effect::Writes && !call.urgent && options_.fence != nullptr;
  if (!asks || options_.fence->may_write()) return {};
  return fail(ErrorCode::Unavailable,
              fmt::format("not the leader: {} {} was not sent", call.method, call.target));
}

Transport& KubeClient::transport_for(const Call& call) const {
  const bool fenced = call.effect == Effect::Writes && !call.urgent && writes_;
  return fenced ? *writes_ : *reads_;
}

}  // namespace muster::cluster::kube
