#include <csignal>

#include <fmt/format.h>

#include "cli/cluster/capacity.h"
#include "cli/cluster/control_plane.h"
#include "cli/cluster/network_api.h"
#include "cli/cluster/open_cluster.h"
#include "cli/plane/apology.h"
#include "cli/plane/full_disk.h"
#include "cli/plane/own_place.h"
#include "cli/plane/room_to_write.h"
#include "cli/plane/take_over.h"
#include "cli/print_error.h"
#include "cli/verbs/verbs.h"
#include "net/http_server.h"
#include "node/agent/tier.h"
#include "rt/scope.h"

namespace muster::cli {
namespace {

// How often a plane that could not go on is tried again: a disk is back from one second to the
// next, and nobody waits for less.
constexpr Duration kTryAgain = std::chrono::seconds(1);

bool may_pass(ErrorCode code) {
  return code == ErrorCode::Io || code == ErrorCode::InsufficientStorage;
}

// A plane that is kept up in a home for as long as somebody wants it: whatever ends it, another
// follows. Lives on the context's loop.
class KeptPlane {
 public:
  KeptPlane(Context& context, UpOptions options, server::HomeLock lock,
            std::unique_ptr<OwnPlace> place)
      : context_(context),
        options_(options),
        lock_(std::move(lock)),
        place_(std::move(place)),
        wanted_(true),
        changed_(context.loop) {}

  Task<int> keep() {
    rt::TaskScope scope(context_.loop);
    scope.spawn(end_on_signal());
    const auto ended = co_await run();
    co_await scope.close();
    co_await place_->close();
    if (!ended) print_error(context_.output, naming_full_disk(context_, ended.error()));
    co_return ended ? exit_code::kOk : exit_code::kFailed;
  }

 private:
  Task<Result<void>> run() {
    auto plane = CO_TRY(co_await start());
    while (true) {
      co_await serve(*plane);
      const auto failure = plane->failure();
      co_await plane->close();
      plane.reset();
      if (!failure) co_return Result<void>{};
      print_error(context_.output, *failure);
      plane = CO_TRY(co_await wait_and_start(*failure));
      if (!plane) co_return Result<void>{};
    }
  }

  Task<Result<std::unique_ptr<ControlPlane>>> start() {
    const Monotonic begun = context_.loop.monotonic();
    auto plane =
        CO_TRY(co_await ControlPlane::start(context_, {.lock = CO_TRY(lock_.share()),
                                                       .api_port = place_->api_port(),
                                                       .tier = node::describe(place_->tier())}));
    if (!options_.quiet) tell_started(context_.loop.monotonic() - begun);
    co_return plane;
  }

  // Until it works again, with its socket saying why it does not; null when it is not wanted any
  // more.
  Task<Result<std::unique_ptr<ControlPlane>>> wait_and_start(Error why) {
    context_.output.note("   Waiting  until {} can be written again\n", context_.home);
    Apology apology(why.in("the control plane waits until its home can be written again"));
    while (wanted_) {
      auto listener = net::listen_unix(context_.loop, socket_path(context_.home));
      if (listener) {
        net::HttpServer http(context_.loop, std::move(*listener), apology);
        http.start();
        [[maybe_unused]] const auto waited =
            co_await rt::with_timeout(context_.loop, kTryAgain, changed_.wait());
        co_await http.close();
      } else {
        CO_TRY(co_await rt::sleep_for(context_.loop, kTryAgain));
      }
      if (!wanted_ || !room_to_write(context_.home)) continue;
      auto plane = co_await start();
      if (plane || !may_pass(plane.error().code)) co_return plane;
    }
    co_return std::unique_ptr<ControlPlane>();
  }

  Task<void> serve(ControlPlane& plane) {
    rt::TaskScope scope(context_.loop);
    scope.spawn(wake_on_failure(plane));
    while (wanted_ && !plane.failure())
      if (!co_await changed_.wait()) break;
    co_await scope.close();
  }

  Task<void> wake_on_failure(ControlPlane& plane) {
    if (co_await plane.failed().wait()) changed_.pulse();
  }

  Task<void> end_on_signal() {
    rt::Signals signals(context_.loop, {SIGINT, SIGTERM});
    if (!co_await signals.next()) co_return;
    wanted_ = false;
    changed_.pulse();
  }

  void tell_started(Duration took) {
    context_.output.print("   Started  embedded control plane in {} ms · state in {}\n",
                          std::chrono::duration_cast<std::chrono::milliseconds>(took).count(),
                          context_.home);
    context_.output.print("       API  unix://{}\n", socket_path(context_.home));
    if (const auto tier = node::describe(place_->tier()); !tier.empty())
      context_.output.print("      Tier  {}\n", tier);
    if (!context_.capacity.empty())
      context_.output.print("  Declared  {}\n", describe(context_.capacity));
    context_.output.print("   kubectl  --kubeconfig {}\n", kubeconfig_path(context_.home));
    context_.output.print(
        "      Stop  Ctrl-C; pods survive, the next `muster up` takes them over\n");
    context_.output.flush();
  }

  Context& context_;
  UpOptions options_;
  server::HomeLock lock_;
  std::unique_ptr<OwnPlace> place_;
  bool wanted_;
  rt::Event changed_;
};

}  // namespace

Task<int> up(Context& context, UpOptions options) {
  auto lock = co_await take_over(context);
  if (!lock) {
    print_error(context.output, naming_full_disk(context, lock.error()));
    co_return exit_code::kFailed;
  }
  auto place = OwnPlace::enter(context, options.api_port);
  if (!place) {
    print_error(context.output, place.error());
    co_return exit_code::kFailed;
  }
  KeptPlane kept(context, options, std::move(*lock), std::move(*place));
  co_return co_await kept.keep();
}

}  // namespace muster::cli
