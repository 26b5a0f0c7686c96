#include <fcntl.h>
#include <sys/stat.h>

#include <csignal>

#include "base/fd.h"
#include "cli/cluster/control_plane.h"
#include "cli/plane/launch.h"
#include "cli/plane/log_file.h"
#include "cli/plane/own_place.h"
#include "cli/plane/sessions.h"
#include "cli/print_error.h"
#include "cli/verbs/verbs.h"
#include "rt/scope.h"

namespace muster::cli {
namespace {

// What whoever started us left open for us; nothing when it was a person, whose descriptors are not
// ours to close.
Fd inherited_socket(int number) {
  struct stat info{};
  if (::fstat(number, &info) != 0 || !S_ISSOCK(info.st_mode)) return {};
  return ::fcntl(number, F_SETFD, FD_CLOEXEC) == 0 ? Fd(number) : Fd();
}

Task<void> stop_on_signal(rt::RealLoop& loop, rt::Event& over) {
  rt::Signals signals(loop, {SIGINT, SIGTERM});
  if (co_await signals.next()) over.set();
}

Task<void> stop_on(rt::Event& event, rt::Event& over) {
  if (co_await event.wait()) over.set();
}

// It holds the other end until it has a session, and the kernel closes that when it is killed.
Task<void> release_with_starter(rt::Descriptor& socket, Sessions& sessions) {
  [[maybe_unused]] const auto gone = co_await socket.readable();
  sessions.release_starter();
}

Task<void> serve(Context& context, ControlPlane& plane, Fd starter) {
  rt::Event over(context.loop);
  rt::TaskScope scope(context.loop);
  rt::Descriptor socket(context.loop, starter.release());
  plane.sessions().hold_for_starter();
  tell_starter(socket.fd(), {});
  scope.spawn(release_with_starter(socket, plane.sessions()));
  scope.spawn(stop_on_signal(context.loop, over));
  scope.spawn(stop_on(plane.failed(), over));
  scope.spawn(stop_on(plane.sessions().over(), over));
  [[maybe_unused]] const auto waited = co_await over.wait();
  co_await scope.close();
}

Task<Result<void>> run_plane_at(Context& context, const OwnPlace& place, server::HomeLock lock,
                                Fd starter) {
  auto plane = co_await ControlPlane::start(context, {.lock = std::move(lock),
                                                      .temporary = true,
                                                      .api_port = place.api_port(),
                                                      .tier = node::describe(place.tier())});
  if (!plane) {
    tell_starter(starter.get(), fail(plane.error()));
    co_return fail(plane.error());
  }
  co_await serve(context, **plane, std::move(starter));
  const auto failure = (*plane)->failure();
  co_await (*plane)->close();
  if (failure) co_return fail(*failure);
  co_return Result<void>{};
}

Task<Result<void>> run_plane(Context& context, Result<server::HomeLock> lock, Fd starter) {
  if (!lock) {
    tell_starter(starter.get(), fail(lock.error()));
    co_return fail(lock.error());
  }
  auto place = OwnPlace::enter(context, std::nullopt);
  if (!place) {
    tell_starter(starter.get(), fail(place.error()));
    co_return fail(place.error());
  }
  const auto ended = co_await run_plane_at(context, **place, std::move(*lock), std::move(starter));
  co_await (*place)->close();
  co_return ended;
}

}  // namespace

Task<int> plane(Context& context) {
  auto lock = server::HomeLock::adopt(context.home, kPlaneLock);
  const bool by_hand = !lock && lock.error().code == ErrorCode::BadRequest;
  Fd starter = by_hand ? Fd() : inherited_socket(kPlaneStarter);
  if (!starter.valid()) {
    print_error(context.output,
                {.code = ErrorCode::BadRequest,
                 .message = "only other commands of muster start this one; keep a control plane "
                            "running with: " +
                            context.command("up")});
    co_return exit_code::kUsage;
  }
  context.log = log_to_file(plane_log_path(context.home), Severity::Info);
  const auto ended = co_await run_plane(context, std::move(lock), std::move(starter));
  if (!ended) context.log.named("plane").error("{}", ended.error().message);
  co_return ended ? exit_code::kOk : exit_code::kFailed;
}

}  // namespace muster::cli
