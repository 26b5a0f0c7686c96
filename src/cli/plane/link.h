#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/context.h"
#include "cli/plane/launch.h"
#include "json/value.h"
#include "net/http_client.h"
#include "rt/scope.h"
#include "rt/task.h"
#include "rt/wait.h"

namespace muster::cli {

// A command's hold on the control plane of its home: a session with the one that is there, or with
// one that is started for it. When that plane dies or steps aside, the next one is found or started
// at once. Lives on the context's loop. leave() it before it is destroyed.
class PlaneLink {
 public:
  enum class WhenAbsent {
    Start,   // a plane of our own
    Refuse,  // NotFound
  };

  explicit PlaneLink(Context& context);
  ~PlaneLink();

  // Until there is a session. Conflict when the plane was given other flags than we were.
  Task<Result<void>> open(WhenAbsent absent);
  // Returns when a plane answers; an error once none can be had any more.
  Task<Result<void>> ready();
  [[nodiscard]] bool is_up() const { return up_.is_set(); }
  // The plane is there and lets nobody in: its home was moved or deleted.
  void abandon(const Error& why);

  // Nobody keeps it up for its own sake.
  [[nodiscard]] bool temporary() const { return temporary_; }
  // In which its pods run, in a line; empty where they have all there is.
  [[nodiscard]] const std::string& tier() const { return tier_; }
  // Set once no plane can be had any more, for the reason in failure().
  rt::Event& failed() { return failed_; }
  [[nodiscard]] const std::optional<Error>& failure() const { return failure_; }

  // Ends the session. When nobody needs the plane any more, it is gone on return; otherwise, and
  // when no other command holds it, the answer is what it stays for.
  Task<std::vector<std::string>> leave();

 private:
  Task<Result<void>> establish(WhenAbsent absent);
  Task<Result<void>> begin_session();
  Task<Result<void>> begin_plane(server::HomeLock lock);
  Result<void> check_flags(const json::Value& hello) const;
  void accept(const json::Value& hello);
  // A line of the session; nothing at its end.
  Task<Result<std::optional<json::Value>>> next_line();
  Task<void> keep();
  void hear(const json::Value& line);
  void give_up(Error why);
  Task<Result<json::Value>> say_goodbye();

  Context& context_;
  net::HttpClient http_;
  std::unique_ptr<LaunchedPlane> launched_;  // the one that we started, if it was us
  std::unique_ptr<net::ResponseStream> stream_;
  std::string unread_;
  json::Value settings_;  // what a plane of ours is started with
  std::int64_t id_ = 0;
  int pid_ = 0;  // of the plane
  bool temporary_ = false;
  std::string tier_;
  bool opened_ = false;
  int short_lives_ = 0;                // of planes that we started, since one that lasted
  std::optional<Monotonic> ready_at_;  // when the last of them began to serve
  Monotonic successor_until_;          // a `muster up` was promised
  std::optional<Error> failure_;
  rt::Event failed_;
  rt::Event up_;
  rt::TaskScope scope_;
};

}  // namespace muster::cli
