#include "cli/plane/sessions.h"

#include <unistd.h>

#include <algorithm>

#include "api/status.h"
#include "base/strings.h"
#include "base/version.h"
#include "json/write.h"

namespace muster::cli {
namespace {

constexpr std::string_view kSessions = "/muster/sessions";
constexpr std::string_view kStepAside = "/muster/step-aside";

net::HttpResponse answer(int status, const json::Value& body) {
  return {.status = status,
          .headers = {{"Content-Type", "application/json"}},
          .body = json::write(body) + "\n"};
}

std::string_view name_of(PlaneEnd end) {
  switch (end) {
    case PlaneEnd::Stopped:
      return "Stopped";
    case PlaneEnd::Moved:
      return "Moved";
    case PlaneEnd::Failed:
      return "Failed";
  }
  return "";
}

}  // namespace

Sessions::Sessions(Options options)
    : options_(std::move(options)),
      over_(options_.loop),
      ending_(options_.loop),
      empty_(options_.loop) {
  empty_.set();
}

Task<void> Sessions::handle(const net::HttpRequest& request, net::Responder& responder) {
  if (request.method == "POST" && request.target == kSessions) {
    co_await hold(responder);
  } else if (request.method == "DELETE" && request.target.starts_with(kSessions)) {
    const auto id = parse_int(request.target.substr(request.target.rfind('/') + 1));
    co_await leave(static_cast<int>(id.value_or(0)), responder);
  } else if (request.method == "POST" && request.target == kStepAside) {
    co_await step_aside(responder);
  } else {
    co_await options_.inner.handle(request, responder);
  }
}

// Lives as long as the client's connection: a client that is killed is gone by that alone.
Task<void> Sessions::hold(net::Responder& responder) {
  if (end_) {
    [[maybe_unused]] const auto sent = co_await responder.respond(answer(
        503, api::status_of({.code = ErrorCode::Unavailable, .message = "the plane is ending"})));
    co_return;
  }
  struct Present {
    Sessions& sessions;
    int id;
    ~Present() { sessions.forget(id); }
  };
  const Present present{.sessions = *this, .id = ++last_id_};
  sessions_[present.id] = false;
  empty_.reset();
  if (!co_await responder.begin(200, {{"Content-Type", "application/json"}})) co_return;
  if (!co_await responder.write_chunk(hello(present.id))) co_return;
  if (!co_await ending_.wait()) co_return;
  if (!co_await responder.write_chunk(farewell())) co_return;
  [[maybe_unused]] const auto finished = co_await responder.finish();
}

// The decision is final: a plane that says that it goes takes no session any more.
Task<void> Sessions::leave(int id, net::Responder& responder) {
  if (const auto found = sessions_.find(id); found != sessions_.end()) found->second = true;
  const bool going = end_ || !is_needed();
  if (going && !end_) end_ = PlaneEnd::Stopped;
  json::Array unfinished;
  if (!going && options_.temporary)
    for (const std::string& name : options_.unfinished()) unfinished.emplace_back(name);
  [[maybe_unused]] const auto sent = co_await responder.respond(answer(
      200, json::Object{
               {"going", going}, {"others", present()}, {"unfinished", std::move(unfinished)}}));
  if (going) over_.set();
}

Task<void> Sessions::step_aside(net::Responder& responder) {
  if (!options_.temporary) {
    [[maybe_unused]] const auto sent = co_await responder.respond(
        answer(409, api::status_of({.code = ErrorCode::Conflict,
                                    .message = "this control plane was started to stay"})));
    co_return;
  }
  if (!end_) end_ = PlaneEnd::Moved;
  [[maybe_unused]] const auto sent =
      co_await responder.respond(answer(200, json::Object{{"going", true}}));
  over_.set();
}

int Sessions::present() const {
  return static_cast<int>(
      std::ranges::count_if(sessions_, [](const auto& session) { return !session.second; }));
}

bool Sessions::is_needed() const {
  return !options_.temporary || starter_ || present() > 0 || !options_.unfinished().empty();
}

void Sessions::release_starter() {
  starter_ = false;
  look_again();
}

void Sessions::look_again() {
  if (end_ || is_needed()) return;
  end_ = PlaneEnd::Stopped;
  over_.set();
}

void Sessions::forget(int id) {
  sessions_.erase(id);
  if (sessions_.empty()) empty_.set();
  look_again();
}

std::string Sessions::hello(int id) const {
  const json::Value line = json::Object{{"id", id},
                                        {"pid", ::getpid()},
                                        {"version", kVersion},
                                        {"temporary", options_.temporary},
                                        {"settings", options_.settings},
                                        {"tier", options_.tier}};
  return json::write(line) + "\n";
}

std::string Sessions::farewell() const {
  json::Value line = json::Object{{"end", name_of(*end_)}};
  if (failure_) line["status"] = api::status_of(*failure_);
  return json::write(line) + "\n";
}

Task<void> Sessions::finish(std::optional<Error> failure) {
  if (failure) {
    end_ = PlaneEnd::Failed;
  } else if (!end_) {
    end_ = PlaneEnd::Stopped;
  }
  failure_ = std::move(failure);
  ending_.set();
  [[maybe_unused]] const auto told =
      co_await rt::with_timeout(options_.loop, std::chrono::seconds(1), empty_.wait());
}

}  // namespace muster::cli
