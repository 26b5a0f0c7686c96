#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "json/value.h"
#include "net/http_server.h"
#include "rt/loop.h"
#include "rt/task.h"
#include "rt/wait.h"

namespace muster::cli {

// Why a plane ends, as its sessions are told.
enum class PlaneEnd {
  Stopped,  // nobody needs it, or somebody wanted it to end: another may be started
  Moved,    // a `muster up` takes over: wait for that one
  Failed,   // it cannot go on, and another would not either
};

// Who needs this plane, on its own socket: every command holds a session, a request whose answer
// lasts as long as both do. A temporary plane is over once there is no session and nothing
// unfinished; one that is kept up ends when its keeper wants it. Everything else is for the inner
// handler. Lives on the plane's loop; what it is given outlives it.
//
//   POST   /muster/sessions      {"id":7,"pid":…,"version":…,"temporary":…,"settings":…,
//                                "tier":…} as a line, and at the end {"end":"Moved"} or
//                                {"end":"Failed","status":{…}}
//   DELETE /muster/sessions/7    {"going":…,"others":…,"unfinished":[…]}: whether it ends now
//   POST   /muster/step-aside    of a temporary one: it ends, for a `muster up`
class Sessions final : public net::HttpHandler {
 public:
  struct Options {
    rt::Loop& loop;
    bool temporary = false;
    json::Value settings;
    std::string tier;  // in which pods run; empty: they have all there is
    std::function<std::vector<std::string>()> unfinished;
    net::HttpHandler& inner;
  };
  explicit Sessions(Options options);

  Task<void> handle(const net::HttpRequest& request, net::Responder& responder) override;

  // Whoever started the plane needs it until it has a session of its own, or is gone.
  void hold_for_starter() { starter_ = true; }
  void release_starter();
  // Something may have finished.
  void look_again();
  // Set when a temporary plane is over.
  rt::Event& over() { return over_; }

  // Tells everybody that it is over, and with a failure why; returns when they were told, or after
  // a second.
  Task<void> finish(std::optional<Error> failure);

 private:
  Task<void> hold(net::Responder& responder);
  Task<void> leave(int id, net::Responder& responder);
  Task<void> step_aside(net::Responder& responder);
  [[nodiscard]] int present() const;
  [[nodiscard]] bool is_needed() const;
  void forget(int id);
  [[nodiscard]] std::string hello(int id) const;
  [[nodiscard]] std::string farewell() const;

  Options options_;
  bool starter_ = false;
  int last_id_ = 0;
  std::map<int, bool> sessions_;  // whether it is about to leave
  std::optional<PlaneEnd> end_;
  std::optional<Error> failure_;
  rt::Event over_;
  rt::Event ending_;
  rt::Event empty_;
};

}  // namespace muster::cli
