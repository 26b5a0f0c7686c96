#pragma once

#include <map>
#include <memory>

#include "agent/mpi/session.h"
#include "agent/mpi/settings.h"
#include "agent/reaper.h"
#include "base/random.h"
#include "net/stream.h"
#include "rt/scope.h"

namespace muster::agent::mpi {

// Starts what peers of the job ask for. What others can make it do is bounded: connections at a
// time, connections a second, time and bytes of a request. Who lacks the key has none of it but a
// failed handshake.
class Server {
 public:
  // What is started has `variables` over our own environment.
  static Result<std::unique_ptr<Server>> listen(rt::RealLoop& loop, Reaper& reaper,
                                                const Settings& settings,
                                                std::vector<std::string> variables);

  // Serves until it is cancelled; then every session has ended.
  Task<void> serve();
  [[nodiscard]] std::uint16_t port() const { return listener_->port(); }

 private:
  Server(rt::RealLoop& loop, Reaper& reaper, std::unique_ptr<net::Listener> listener,
         std::unique_ptr<net::Listener> reports, std::vector<std::string> variables);

  Task<Result<void>> accept_all();
  Task<void> session(std::unique_ptr<net::Stream> stream, rt::Gate::Permit permit);
  Task<void> accept_reports();
  Task<void> take_report(std::unique_ptr<net::Stream> stream, rt::Gate::Permit permit);
  [[nodiscard]] std::vector<std::string> environment_of(const std::string& session) const;

  rt::RealLoop& loop_;
  Reaper& reaper_;
  std::unique_ptr<net::Listener> listener_;
  std::unique_ptr<net::Listener> reports_;  // of ranks in this container
  rt::Gate sessions_;
  rt::Gate reports_at_once_;
  SystemRng rng_;
  std::vector<std::string> variables_;
  std::map<std::string, std::shared_ptr<Session>> by_name_;
  rt::TaskScope scope_;
};

}  // namespace muster::agent::mpi
