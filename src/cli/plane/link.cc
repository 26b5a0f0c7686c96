#include "cli/plane/link.h"

#include <fmt/format.h>

#include "api/status.h"
#include "base/version.h"
#include "cli/cluster/open_cluster.h"
#include "cli/plane/settings.h"
#include "json/read.h"
#include "net/stream.h"

namespace muster::cli {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// Another process starts, ends, or reads the home: none of it takes long, and the kernel has
// nothing to wait on.
constexpr Duration kLookAgain = milliseconds(5);
// A plane that ends may wait ten seconds for pods that are over.
constexpr Duration kPatience = seconds(30);
constexpr Duration kPatienceWithSuccessor = seconds(5);
// A plane that ends sooner will do so again.
constexpr Duration kShortLife = seconds(5);
constexpr int kMostShortLives = 10;
constexpr std::size_t kLongestLine = std::size_t{1} << 20U;

Task<Result<std::string>> read_body(net::ResponseStream& stream) {
  std::string body;
  while (body.size() < kLongestLine) {
    auto chunk = CO_TRY(co_await stream.next());
    if (!chunk) break;
    body += *chunk;
  }
  co_return body;
}

Error refusal(int status, const std::string& body) {
  if (status == 404) {
    return {.code = ErrorCode::Conflict,
            .message = fmt::format("the control plane of this home is of another version than this "
                                   "muster {}; stop it, or use another --home",
                                   kVersion)};
  }
  const auto parsed = json::read(body);
  return api::error_from_status(status, parsed.value_or(json::Value(body)));
}

}  // namespace

PlaneLink::PlaneLink(Context& context)
    : context_(context),
      http_(context.loop, net::unix_connector(context.loop, socket_path(context.home))),
      settings_(runner_settings(context)),
      failed_(context.loop),
      up_(context.loop),
      scope_(context.loop) {}

PlaneLink::~PlaneLink() = default;

Task<Result<void>> PlaneLink::open(WhenAbsent absent) {
  CO_TRY(co_await establish(absent));
  opened_ = true;
  up_.set();
  scope_.spawn(keep());
  co_return Result<void>{};
}

Task<Result<void>> PlaneLink::ready() {
  CO_TRY(co_await up_.wait());
  if (failure_) co_return fail(*failure_);
  co_return Result<void>{};
}

Task<Result<void>> PlaneLink::establish(WhenAbsent absent) {
  const Monotonic begun = context_.loop.monotonic();
  while (true) {
    auto session = co_await begin_session();
    if (session || session.error().code != ErrorCode::Unavailable) co_return session;
    Error why = std::move(session).error();
    if (context_.loop.monotonic() >= successor_until_) {
      CO_TRY(make_home(context_.home));
      auto lock = server::HomeLock::take(context_.home);
      if (lock && absent == WhenAbsent::Refuse)
        co_return fail(ErrorCode::NotFound, "no control plane is there");
      if (lock) {
        CO_TRY(co_await begin_plane(std::move(*lock)));
        continue;
      }
      if (lock.error().code != ErrorCode::AlreadyExists) co_return fail(lock.error());
      why = std::move(lock).error();
    }
    if (context_.loop.monotonic() - begun > kPatience) co_return fail(std::move(why));
    CO_TRY(co_await rt::sleep_for(context_.loop, kLookAgain));
  }
}

// Somebody may kill it at once, or what it finds in its home may; then it is tried again, but not
// for ever.
Task<Result<void>> PlaneLink::begin_plane(server::HomeLock lock) {
  const auto ready_at = std::exchange(ready_at_, std::nullopt);
  if (ready_at && context_.loop.monotonic() - *ready_at > kShortLife) short_lives_ = 0;
  if (short_lives_++ >= kMostShortLives) {
    co_return fail(ErrorCode::Internal,
                   fmt::format("the control plane ended {} times right after its start; see {}",
                               kMostShortLives, plane_log_path(context_.home)));
  }
  launched_ = CO_TRY(LaunchedPlane::launch(context_, std::move(lock), settings_));
  auto ready = co_await launched_->ready();
  if (ready) ready_at_ = context_.loop.monotonic();
  if (!ready && ready.error().code == ErrorCode::Gone) co_return Result<void>{};
  co_return ready;
}

Task<Result<void>> PlaneLink::begin_session() {
  stream_.reset();
  unread_.clear();
  net::HttpRequest request{.method = "POST", .target = "/muster/sessions"};
  stream_ = CO_TRY(co_await rt::with_timeout(context_.loop, kPatience, http_.open(request)));
  if (stream_->status() != 200) {
    const std::string body = CO_TRY(co_await read_body(*stream_));
    co_return fail(refusal(stream_->status(), body));
  }
  const auto hello = CO_TRY(co_await next_line());
  if (!hello) co_return fail(ErrorCode::Unavailable, "the control plane is ending");
  if (!opened_) CO_TRY(check_flags(*hello));
  accept(*hello);
  co_return Result<void>{};
}

Result<void> PlaneLink::check_flags(const json::Value& hello) const {
  const std::string flags = flags_of_the_runner(context_);
  if (flags.empty()) return {};
  if (!hello["temporary"].as_bool()) {
    return fail(ErrorCode::Conflict,
                fmt::format("the pods of {} are run by the muster that is up there: give {} to it, "
                            "or use another --home",
                            context_.home, flags));
  }
  if (hello["settings"] == settings_) return {};
  return fail(ErrorCode::Conflict,
              fmt::format("other commands run pods in {}, and they were not given the same {}: "
                          "wait for their end, or use another --home",
                          context_.home, flags));
}

void PlaneLink::accept(const json::Value& hello) {
  id_ = hello["id"].as_int();
  pid_ = static_cast<int>(hello["pid"].as_int());
  temporary_ = hello["temporary"].as_bool();
  settings_ = hello["settings"];
  tier_ = hello["tier"].as_string();
  successor_until_ = {};
  if (launched_) launched_->release();
  const std::string& version = hello["version"].as_string();
  if (version == kVersion || opened_) return;
  context_.output.note(
      "note: the control plane of {} is muster {}, this is muster {}: stop that one to use this "
      "one's\n",
      context_.home, version, kVersion);
}

Task<Result<std::optional<json::Value>>> PlaneLink::next_line() {
  auto end = unread_.find('\n');
  while (end == std::string::npos) {
    const auto chunk = CO_TRY(co_await stream_->next());
    if (!chunk || unread_.size() > kLongestLine) co_return std::optional<json::Value>();
    unread_ += *chunk;
    end = unread_.find('\n');
  }
  auto line = CO_TRY(json::read(std::string_view(unread_).substr(0, end)));
  unread_.erase(0, end + 1);
  co_return std::optional(std::move(line));
}

// Until the session is over for good: whoever waits finds the next plane at once.
Task<void> PlaneLink::keep() {
  while (!failure_) {
    const auto line = co_await next_line();
    if (line && *line) {
      hear(**line);
      continue;
    }
    if (!line && line.error().code == ErrorCode::Cancelled) co_return;
    up_.reset();
    const auto again = co_await establish(WhenAbsent::Start);
    if (!again && again.error().code == ErrorCode::Cancelled) co_return;
    if (!again) give_up(again.error());
    up_.set();
  }
}

void PlaneLink::hear(const json::Value& line) {
  const std::string& end = line["end"].as_string();
  if (end == "Moved") successor_until_ = context_.loop.monotonic() + kPatienceWithSuccessor;
  if (end == "Failed") give_up(api::error_from_status(200, line["status"]));
}

void PlaneLink::give_up(Error why) {
  failure_ = std::move(why);
  failed_.set();
}

void PlaneLink::abandon(const Error& why) {
  pid_ = 0;  // it may stay for its jobs: nobody waits for its end
  give_up({.code = ErrorCode::Io,
           .message = fmt::format("the control plane of {} cannot be reached any more, as if its "
                                  "home had been moved or deleted: {}",
                                  context_.home, why.message)});
}

Task<Result<json::Value>> PlaneLink::say_goodbye() {
  CO_TRY(co_await ready());
  net::HttpRequest request{.method = "DELETE", .target = fmt::format("/muster/sessions/{}", id_)};
  const auto answer =
      CO_TRY(co_await rt::with_timeout(context_.loop, kPatience, http_.send(request)));
  co_return json::read(answer.body);
}

Task<std::vector<std::string>> PlaneLink::leave() {
  std::vector<std::string> stays_for;
  if (!opened_) {
    co_await http_.close();
    co_return stays_for;
  }
  auto answer = co_await say_goodbye();
  // One that died just now may have left something to be cleared away.
  for (int i = 0; !answer && answer.error().code == ErrorCode::Unavailable && i < 3; ++i) {
    if (!co_await rt::sleep_for(context_.loop, kLookAgain)) break;
    answer = co_await say_goodbye();
  }
  co_await scope_.close();
  stream_.reset();
  co_await http_.close();
  const bool going = answer ? (*answer)["going"].as_bool() : failure_ && temporary_;
  if (going && pid_ != 0) co_await wait_until_gone(context_.loop, pid_, kPatience);
  if (answer && (*answer)["others"].as_int() == 0) {
    for (const json::Value& name : (*answer)["unfinished"].as_array())
      stays_for.push_back(name.as_string());
  }
  launched_.reset();
  co_return stays_for;
}

}  // namespace muster::cli
