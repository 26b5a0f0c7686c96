#include "faulty_cluster.h"

#include <type_traits>

#include "api/object.h"
#include "cluster/reflector.h"
#include "rt/wait.h"

namespace muster::simulation {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using Verb = Request::Verb;

// Longer than anything else takes, so that events of other kinds overtake; shorter than a deadline.
constexpr Duration kDelay = seconds(3);
constexpr Duration kTimeout = seconds(2);

std::unexpected<Error> never_answered() {
  return fail(ErrorCode::Cancelled, "nobody is there");
}

Request write_request(Verb verb, const api::Resource& resource, const json::Value& object) {
  return {.verb = verb,
          .resource = resource,
          .key = api::key_of(object),
          .body = object,
          .uid = api::uid_of(object),
          .resource_version = api::resource_version_of(object)};
}

// A watch whose events are numbered, take their time, and may be hit by the fault.
class FaultyWatch final : public cluster::Watch {
 public:
  FaultyWatch(FaultyCluster& cluster, api::Resource resource, std::unique_ptr<cluster::Watch> inner)
      : cluster_(cluster), resource_(std::move(resource)), inner_(std::move(inner)) {}

  Task<Result<cluster::WatchEvent>> next() override {
    if (again_) co_return *std::exchange(again_, std::nullopt);
    while (true) {
      if (cluster_.dead()) co_return never_answered();
      auto event = CO_TRY(co_await inner_->next());
      CO_TRY(co_await rt::sleep_for(wire().loop, wire().latency()));
      if (event.type == cluster::EventType::Bookmark) co_return event;
      const std::size_t number = ++wire().events;
      wire().history.note("event {} {} {} {} rv={}", number, resource_.plural,
                          static_cast<int>(event.type), api::name_of(*event.object),
                          api::resource_version_of(*event.object));
      if (strikes(Fault::Kind::DropEvent, number)) continue;
      if (strikes(Fault::Kind::RepeatEvent, number)) again_ = event;
      if (strikes(Fault::Kind::DelayEvent, number)) {
        CO_TRY(co_await rt::sleep_for(wire().loop, kDelay));
      }
      if (strikes(Fault::Kind::CutWatch, number)) {
        co_return fail(ErrorCode::Unavailable, "the stream was cut");
      }
      if (strikes(Fault::Kind::ExpireWatch, number)) {
        wire().expired[resource_] =
            cluster::version_number(api::resource_version_of(*event.object));
        co_return fail(ErrorCode::Gone, "too old resource version");
      }
      co_return event;
    }
  }

 private:
  [[nodiscard]] Wire& wire() { return cluster_.wire(); }
  bool strikes(Fault::Kind kind, std::size_t number) { return wire().strike(kind, number); }

  FaultyCluster& cluster_;
  api::Resource resource_;
  std::unique_ptr<cluster::Watch> inner_;
  std::optional<cluster::WatchEvent> again_;
};

}  // namespace

std::string_view to_string(Fault::Kind kind) {
  static constexpr std::string_view kNames[] = {
      "none",          "crash-before",  "crash-after",  "drop",
      "repeat",        "delay",         "cut",          "expire (410)",
      "409",           "429",           "500",          "timeout-before",
      "timeout-after", "clock-forward", "clock-back",   "hold-briefly",
      "hold-long",     "node-away",     "node-evicted", "node-removed"};
  return kNames[static_cast<std::size_t>(kind)];
}

bool Wire::strike(Fault::Kind kind, std::size_t number) {
  for (std::size_t i = 0; i < faults_.size(); ++i) {
    if (!pending_[i] || faults_[i].kind != kind || faults_[i].at != number) continue;
    pending_[i] = false;
    last_strike = loop.monotonic();
    if (!struck) struck = last_strike;
    strikes.push_back(faults_[i]);
    history.note("FAULT {} at {}", to_string(kind), number);
    return true;
  }
  return false;
}

void Wire::disturb_at(std::size_t call) {
  for (const Fault::Kind kind : kDisturbances) {
    if (strike(kind, call)) disturb({.kind = kind, .at = call});
  }
}

std::optional<Error> Wire::refusal(std::size_t write) {
  if (strike(Fault::Kind::Conflict, write)) {
    return Error{.code = ErrorCode::Conflict, .message = "the object has been modified"};
  }
  if (strike(Fault::Kind::TooManyRequests, write)) {
    return Error{.code = ErrorCode::TooManyRequests,
                 .message = "too many requests",
                 .retry_after = milliseconds(1000)};
  }
  if (strike(Fault::Kind::ServerError, write)) {
    return Error{.code = ErrorCode::Internal, .message = "an internal error occurred"};
  }
  if (strike(Fault::Kind::TimeoutBefore, write)) {
    return Error{.code = ErrorCode::Timeout, .message = "no answer in time"};
  }
  return std::nullopt;
}

std::unexpected<Error> FaultyCluster::die() {
  wire_.history.note("CRASH");
  wire_.crashed = true;
  dead_ = true;
  return never_answered();
}

template <class T>
Task<Result<T>> FaultyCluster::call(Request request, Task<Result<T>> apply) {
  if (dead_) co_return never_answered();
  const std::size_t number = ++wire_.calls;
  const bool own = request.is_write() && request.resource != api::events();
  const std::size_t write = own ? ++wire_.writes : 0;
  if (request.verb == Verb::List) {
    wire_.lists[request.resource].push_back(wire_.loop.monotonic());
  }
  wire_.history.note("call {} {}", number, request.text());
  wire_.disturb_at(number);
  CO_TRY(co_await rt::sleep_for(wire_.loop, wire_.latency()));
  if (dead_) co_return never_answered();
  if (wire_.strike(Fault::Kind::CrashBefore, number)) co_return die();
  if (auto error = write > 0 ? wire_.refusal(write) : std::nullopt) {
    const Duration wait = error->code == ErrorCode::Timeout ? kTimeout : wire_.latency();
    CO_TRY(co_await rt::sleep_for(wire_.loop, wait));
    co_return fail(std::move(*error));
  }
  wire_.checker.before(request);
  Result<T> result = co_await std::move(apply);
  if (own) wire_.last_write = wire_.loop.monotonic();
  wire_.history.note("done {} {}", number, result ? "ok" : result.error().message);
  if constexpr (std::is_same_v<T, api::ObjectPtr>) {
    if (result) wire_.checker.after(request, **result);
  }
  if (wire_.strike(Fault::Kind::CrashAfter, number)) co_return die();
  if (write > 0 && wire_.strike(Fault::Kind::TimeoutAfter, write)) {
    CO_TRY(co_await rt::sleep_for(wire_.loop, kTimeout));
    co_return fail(ErrorCode::Timeout, "no answer in time");
  }
  CO_TRY(co_await rt::sleep_for(wire_.loop, wire_.latency()));
  if (dead_) co_return never_answered();
  co_return result;
}

Task<Result<cluster::ListPage>> FaultyCluster::list(const api::Resource& resource,
                                                    cluster::ListOptions options) {
  return call({.verb = Verb::List, .resource = resource},
              inner_.list(resource, std::move(options)));
}

Task<Result<std::unique_ptr<cluster::Watch>>> FaultyCluster::watch(const api::Resource& resource,
                                                                   cluster::WatchOptions options) {
  const std::string from = options.resource_version;
  auto opened =
      CO_TRY(co_await call({.verb = Verb::Watch, .resource = resource, .resource_version = from},
                           inner_.watch(resource, std::move(options))));
  if (cluster::version_number(from) < wire_.expired[resource]) {
    co_return fail(ErrorCode::Gone, "too old resource version");
  }
  co_return std::make_unique<FaultyWatch>(*this, resource, std::move(opened));
}

Task<Result<api::ObjectPtr>> FaultyCluster::get(const api::Resource& resource, api::ObjectKey key) {
  Request request{.verb = Verb::Get, .resource = resource, .key = key};
  return call(std::move(request), inner_.get(resource, std::move(key)));
}

Task<Result<api::ObjectPtr>> FaultyCluster::create(const api::Resource& resource,
                                                   json::Value object) {
  Request request = write_request(Verb::Create, resource, object);
  return call(std::move(request), inner_.create(resource, std::move(object)));
}

Task<Result<api::ObjectPtr>> FaultyCluster::update(const api::Resource& resource,
                                                   json::Value object) {
  Request request = write_request(Verb::Update, resource, object);
  return call(std::move(request), inner_.update(resource, std::move(object)));
}

Task<Result<api::ObjectPtr>> FaultyCluster::update_status(const api::Resource& resource,
                                                          json::Value object) {
  Request request = write_request(Verb::UpdateStatus, resource, object);
  return call(std::move(request), inner_.update_status(resource, std::move(object)));
}

Task<Result<api::ObjectPtr>> FaultyCluster::remove(const api::Resource& resource,
                                                   api::ObjectKey key,
                                                   cluster::DeleteOptions options) {
  Request request{.verb = Verb::Remove,
                  .resource = resource,
                  .key = key,
                  .uid = options.uid,
                  .resource_version = options.resource_version,
                  .grace_seconds = options.grace_seconds};
  return call(std::move(request), inner_.remove(resource, std::move(key), std::move(options)));
}

}  // namespace muster::simulation
