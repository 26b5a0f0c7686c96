#include "cluster/leader.h"

#include <algorithm>
#include <utility>

namespace muster::cluster {

using namespace election;

Leader::Leader(rt::Loop& loop, Cluster& cluster, Rng& rng, LeaderOptions options, Logger log)
    : loop_(loop),
      clock_(loop.clock()),
      cluster_(cluster),
      rng_(rng),
      log_(std::move(log)),
      candidate_{.lease = {options.ns, options.name},
                 .identity = options.identity,
                 .times = options.times},
      elected_(loop),
      over_(loop),
      stop_(loop),
      deadline_(loop),
      scope_(loop) {
  CHECK(!candidate_.identity.empty());
}

void Leader::start() {
  scope_.spawn(run());
}

Task<Result<void>> Leader::elected() {
  CO_TRY(co_await elected_.wait());
  if (std::holds_alternative<Leading>(state_)) co_return Result<void>{};
  co_return fail(ErrorCode::Unavailable, "the election ended without us as the leader");
}

Task<void> Leader::lost() {
  [[maybe_unused]] const auto waited = co_await over_.wait();
}

Task<void> Leader::close() {
  stop_.set();
  co_await scope_
      .join();  // run() releases the lease and ends; each of its requests has a time limit
}

bool Leader::may_write() const {
  return !stop_.is_set() && election::may_write(candidate_.times, state_, clock_.used());
}

Task<void> Leader::run() {
  Observation observed = TimerFired{};
  while (true) {
    // A stop counts from the moment it is asked for, but what a request just told us is taken in
    // first.
    auto [state, action] = step(candidate_, state_, observed, clock_.moment());
    enter(std::move(state));
    if (stop_.is_set() && !std::holds_alternative<StopAsked>(observed) &&
        !std::holds_alternative<End>(action) && !std::holds_alternative<Releasing>(state_)) {
      observed = StopAsked{};
      continue;
    }
    if (std::holds_alternative<End>(action)) break;
    observed = co_await perform(std::move(action));
  }
}

Task<Observation> Leader::perform(Action action) {
  if (const auto* wait = std::get_if<Wait>(&action)) co_return co_await pause(wait->duration);
  const Monotonic sent_at = clock_.used();
  if (std::holds_alternative<Read>(action)) {
    auto lease = co_await rt::with_timeout(loop_, request_limit(),
                                           cluster_.get(api::leases(), candidate_.lease));
    if (lease) co_return LeaseSeen{std::move(*lease)};
    if (lease.error().code == ErrorCode::NotFound) co_return LeaseAbsent{};
    log_.warning("reading lease {}: {}", candidate_.lease.text(), lease.error().message);
    co_return NoAnswer{};
  }
  auto* create = std::get_if<Create>(&action);
  auto request = create != nullptr
                     ? cluster_.create(api::leases(), std::move(create->lease))
                     : cluster_.update(api::leases(), std::move(std::get<Update>(action).lease));
  auto written = co_await rt::with_timeout(loop_, request_limit(), std::move(request));
  if (written) co_return LeaseWritten{std::move(*written), sent_at};
  const ErrorCode code = written.error().code;
  if (code == ErrorCode::Conflict || code == ErrorCode::AlreadyExists) co_return WriteRefused{};
  log_.warning("writing lease {}: {}", candidate_.lease.text(), written.error().message);
  co_return NoAnswer{};
}

Task<Observation> Leader::pause(Duration duration) {
  // Up to a fifth less, so that candidates do not come in step.
  const auto less =
      static_cast<std::int64_t>(static_cast<double>(duration.count()) * rng_.unit() / 5);
  const auto stopped = co_await rt::with_timeout(loop_, duration - Duration(less), stop_.wait());
  if (stopped) co_return StopAsked{};
  co_return TimerFired{};
}

// Half of the renew deadline, so that a hanging connection leaves time for a second try.
Duration Leader::request_limit() const {
  return candidate_.times.renew_deadline / 2;
}

void Leader::enter(State state) {
  const bool led = std::holds_alternative<Leading>(state_);
  state_ = std::move(state);
  if (const auto* leading = std::get_if<Leading>(&state_)) {
    if (!led) log_.info("{} leads by lease {}", candidate_.identity, candidate_.lease.text());
    const Duration left = leading->renewed_at + candidate_.times.renew_deadline - clock_.used();
    deadline_.start(left, [this] { enter(Over{}); });
    elected_.set();
    return;
  }
  if (std::holds_alternative<Following>(state_)) return;
  deadline_.cancel();
  if (led && std::holds_alternative<Over>(state_)) {
    log_.warning("{} lost lease {}", candidate_.identity, candidate_.lease.text());
  }
  elected_.set();
  over_.set();
}

}  // namespace muster::cluster
