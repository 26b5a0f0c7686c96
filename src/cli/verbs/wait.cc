#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include "base/strings.h"
#include "cli/cluster/open_cluster.h"
#include "cli/jobs/duration.h"
#include "cli/jobs/followed.h"
#include "cli/objects/find_object.h"
#include "cli/objects/goal.h"
#include "cli/objects/watched.h"
#include "cli/print_error.h"
#include "cli/verbs/verbs.h"

namespace muster::cli {
namespace {

// One thing that is waited for.
class Awaited {
 public:
  Awaited(Context& context, cluster::Cluster& cluster, FoundObject found, rt::Event& changed)
      : found_(std::move(found)),
        uid_(api::uid_of(*found_.object)),
        watched_(context, cluster, found_.of.resource,
                 {.ns = api::namespace_of(*found_.object),
                  .fields = "metadata.name=" + api::name_of(*found_.object)},
                 changed, [this](Watched::Change change, const cluster::ObjectPtr& object) {
                   see(change, object);
                 }) {}

  Watched& watched() { return watched_; }
  [[nodiscard]] const NamedResource& of() const { return found_.of; }
  [[nodiscard]] const json::Value& last() const { return *found_.object; }
  [[nodiscard]] bool gone() const {
    return gone_ ||
           (watched_.known() && !std::ranges::any_of(watched_.objects(), [&](const auto& one) {
              return api::uid_of(*one.second) == uid_;
            }));
  }
  // As `get -o name` says it.
  [[nodiscard]] std::string name() const {
    return fmt::format("{}/{}", found_.of.resource.qualified(), api::name_of(*found_.object));
  }

 private:
  // What an end and a deletion that came together left is the end.
  void see(Watched::Change change, const cluster::ObjectPtr& object) {
    if (api::uid_of(*object) != uid_) return;
    found_.object = object;
    gone_ = change == Watched::Change::Gone;
  }

  FoundObject found_;
  std::string uid_;
  bool gone_ = false;
  Watched watched_;
};

// What has become of one of them: an exit code once it is decided.
std::optional<int> outcome_of(Context& context, const Awaited& one, const Goal& goal) {
  if (goal.is_deletion()) {
    if (!one.gone()) return std::nullopt;
    context.output.print("{} deleted\n", one.name());
    return exit_code::kOk;
  }
  if (goal.reached(one.last(), one.of().dialect)) {
    context.output.print("{} {}\n", one.name(), goal.shown(one.last(), one.of().dialect));
    return goal.code(one.last(), one.of().dialect);
  }
  if (!one.gone()) return std::nullopt;
  print_error(context.output, {.code = ErrorCode::NotFound,
                               .message = fmt::format("{} was deleted", api::name_of(one.last()))});
  return exit_code::kFailed;
}

// What keeps a job from getting anywhere, as the end of a sentence.
std::string why_not(const Awaited& one) {
  const plan::Dialect* dialect = one.of().dialect;
  const bool suspended =
      dialect != nullptr && JobView::from(one.last(), *dialect).phase == plan::Phase::Suspended;
  return suspended ? "; it is suspended" : "";
}

using AwaitedList = std::vector<std::unique_ptr<Awaited>>;

// Until every one is decided, or time is up. The first code that is not 0, in the order of names.
Task<Result<int>> wait_for_all(Context& context, AwaitedList& all, Goal goal,
                               std::optional<Duration> limit, rt::Event& changed) {
  bool late = false;
  rt::Timer timer(context.loop);
  if (limit) {
    timer.start(*limit, [&] {
      late = true;
      changed.pulse();
    });
  }
  std::vector<std::optional<int>> codes(all.size());
  while (true) {
    bool looked = true;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (const auto refusal = all[i]->watched().refusal()) co_return fail(*refusal);
      looked = looked && all[i]->watched().known();
      if (!codes[i]) codes[i] = outcome_of(context, *all[i], goal);
    }
    context.output.flush();
    if (std::ranges::all_of(codes, [](const auto& code) { return code.has_value(); })) break;
    if (late && looked) break;
    CO_TRY(co_await changed.wait());
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (codes[i]) continue;
    codes[i] = exit_code::kTimeout;
    print_error(context.output,
                {.code = ErrorCode::Timeout,
                 .message = fmt::format("timed out after {} waiting for {} to be {}{}",
                                        format_duration(*limit), all[i]->name(), goal.text(),
                                        why_not(*all[i]))});
  }
  const auto bad = std::ranges::find_if(codes, [](const auto& code) { return *code != 0; });
  co_return bad == codes.end() ? exit_code::kOk : **bad;
}

Task<Result<int>> wait_in(Context& context, OpenCluster& target, std::vector<ObjectName> names,
                          Goal goal, std::optional<Duration> limit) {
  rt::Event changed(context.loop);
  AwaitedList all;
  for (const ObjectName& name : names) {
    auto found =
        co_await find_object(context, target.cluster(), target.ns(), name, BareName::JobOrPod);
    // What is not there is deleted.
    if (!found && found.error().code == ErrorCode::NotFound && goal.is_deletion()) continue;
    if (!found) co_return fail(found.error());
    CO_TRY(goal.fits(found->of));
    all.push_back(std::make_unique<Awaited>(context, target.cluster(), *found, changed));
  }
  for (const auto& one : all) one->watched().start();
  auto code = co_await wait_for_all(context, all, std::move(goal), limit, changed);
  for (const auto& one : all) co_await one->watched().close();
  co_return code;
}

}  // namespace

Task<int> wait(Context& context, WaitOptions options) {
  auto names = parse_names(context.registry, options.words);
  if (!names) co_return refuse_resource(context.output, names.error());
  auto goal = Goal::parse(options.condition);
  if (!goal) co_return refuse_resource(context.output, goal.error());
  co_return co_await with_cluster(
      context, PlaneParts::All,
      [&context, names = std::move(*names), goal = std::move(*goal), limit = options.timeout](
          OpenCluster& target) { return wait_in(context, target, names, goal, limit); });
}

}  // namespace muster::cli
