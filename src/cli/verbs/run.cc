#include <algorithm>

#include <fmt/format.h>

#include "api/object.h"

#include "cli/cluster/capacity.h"
#include "cli/cluster/open_cluster.h"
#include "cli/jobs/attached_run.h"
#include "cli/jobs/dry_run.h"
#include "cli/jobs/manifest.h"
#include "cli/jobs/submit.h"
#include "cli/print_error.h"
#include "cli/terminal/screen.h"
#include "cli/verbs/verbs.h"
#include "rt/scope.h"

namespace muster::cli {
namespace {

std::optional<Followed> followed(const Manifest& manifest, const Submitted& submitted) {
  if (manifest.dialect != nullptr) return Followed::job(*submitted.object, *manifest.dialect);
  if (manifest.resource == api::pods()) return Followed::pod(*submitted.object);
  return std::nullopt;
}

// A file of claims and the like has nothing to follow: what became of each is all there is to say.
void tell_objects(const std::vector<Manifest>& manifests, const std::vector<Submitted>& submitted,
                  Screen& screen) {
  for (std::size_t i = 0; i < manifests.size(); ++i) {
    screen.note(fmt::format("{}  {} {}", submitted[i].is_new ? "   Created" : "Up to date",
                            manifests[i].resource.kind, api::key_of(*submitted[i].object).text()));
  }
}

bool runs_nothing(const std::vector<Manifest>& manifests) {
  return std::ranges::none_of(manifests, [](const Manifest& manifest) {
    return manifest.dialect != nullptr || manifest.resource == api::pods();
  });
}

// Follows them one after the other; the first code that is not 0 counts.
Task<int> follow_all(Context& context, OpenCluster& target, const std::vector<Manifest>& manifests,
                     const std::vector<Submitted>& submitted, Screen& screen,
                     Interruption& interruption) {
  int code = exit_code::kOk;
  for (std::size_t i = 0; i < manifests.size(); ++i) {
    auto one = followed(manifests[i], submitted[i]);
    if (!one) continue;
    AttachedRun attached(context, target, screen, interruption, std::move(*one));
    const int ended = co_await attached.follow();
    if (code == exit_code::kOk) code = ended;
  }
  co_return code;
}

Task<int> submit_and_follow(Context& context, OpenCluster& target,
                            std::vector<Manifest> manifests) {
  const auto submitted = co_await submit(context, target, manifests);
  if (!submitted) {
    print_error(context.output, submitted.error());
    co_return exit_code::kOurs;
  }
  Screen screen(context.loop, context.output, Terminal::detect(context));
  if (!context.capacity.empty())
    screen.note(fmt::format("  Declared  {}", describe(context.capacity)));
  if (runs_nothing(manifests)) {
    tell_objects(manifests, *submitted, screen);
    co_return exit_code::kOk;
  }
  Interruption interruption(context.loop);
  rt::TaskScope scope(context.loop);
  scope.spawn(watch_signals(context.loop, interruption));
  scope.spawn(follow_window(context.loop, screen));
  const int code =
      co_await follow_all(context, target, manifests, *submitted, screen, interruption);
  if (interruption.count > 0) {
    for (const std::string& kept : co_await clean_up(target.cluster(), manifests, *submitted))
      screen.note(fmt::format("      Kept  {}", kept));
  }
  co_await scope.close();
  co_return code;
}

// Something else that somebody left running: its plane stays, and who wonders should know why.
void tell_unfinished(Context& context, const OpenCluster& target) {
  const auto& names = target.unfinished();
  if (names.empty()) return;
  const std::string what = names.size() == 1 ? names.front() : fmt::format("{} jobs", names.size());
  context.output.note("Unfinished  {} in the background: {}\n", what, context.command("get -A"));
}

}  // namespace

Task<int> run(Context& context, RunOptions options) {
  auto manifests = manifests_for_run(context, options.files, options.submission);
  if (!manifests) {
    print_error(context.output, manifests.error());
    co_return exit_code::kOurs;
  }
  if (options.dry_run) co_return print_planned(context.output, *manifests, options.output);
  auto target = co_await OpenCluster::open(context, PlaneParts::All);
  if (!target) {
    print_error(context.output, target.error());
    co_return exit_code::kOurs;
  }
  const int code =
      co_await (*target)->guard(submit_and_follow(context, **target, std::move(*manifests)));
  const auto& failure = (*target)->failure();
  if (failure) print_error(context.output, *failure);
  co_await (*target)->close();
  tell_unfinished(context, **target);
  co_return failure ? exit_code::kOurs : code;
}

}  // namespace muster::cli
