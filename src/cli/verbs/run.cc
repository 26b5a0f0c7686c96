#include <algorithm>

#include <fmt/format.h>

#include "api/object.h"
#include "base/strings.h"
#include "cli/cluster/capacity.h"
#include "cli/cluster/open_cluster.h"
#include "cli/jobs/dry_run.h"
#include "cli/jobs/manifest.h"
#include "cli/jobs/submit.h"
#include "cli/jobs/wait_deleted.h"
#include "cli/print_error.h"
#include "cli/run/attached_runs.h"
#include "cli/run/reports.h"
#include "cli/verbs/verbs.h"
#include "rt/scope.h"

namespace muster::cli {
namespace {

constexpr std::size_t kNamedUnfinished = 3;
constexpr Duration kPatience = std::chrono::seconds(60);
constexpr Duration kPatienceAfterKill = std::chrono::seconds(5);

std::optional<Followed> followed(const Manifest& manifest, const Submitted& submitted) {
  if (manifest.dialect != nullptr) return Followed::job(*submitted.object, *manifest.dialect);
  if (manifest.resource == api::pods()) return Followed::one_run_of(*submitted.object);
  return std::nullopt;
}

// One `muster run` of manifests that were read. Lives on the loop for the time of run().
class RunVerb {
 public:
  RunVerb(Context& context, OpenCluster& target, const RunOptions& options, const Reports& reports,
          std::vector<Manifest> manifests)
      : context_(context),
        target_(target),
        options_(options),
        reports_(reports),
        manifests_(std::move(manifests)),
        to_error_(context.output),
        screen_(context.loop, reports.print ? static_cast<Output&>(to_error_) : context.output,
                Terminal::detect(context)),
        interruption_(context.loop) {}

  Task<int> run() {
    rt::TaskScope scope(context_.loop);
    scope.spawn(watch_signals(context_.loop, interruption_, OnCtrlC::Stop));
    scope.spawn(follow_window(context_.loop, screen_));
    const int code = co_await submit_and_follow();
    co_await scope.close();
    co_return code;
  }
  // Whether it goes on without us, as we said.
  [[nodiscard]] bool detached() const { return options_.detach || interruption_.detached; }

 private:
  Task<int> submit_and_follow() {
    if (!options_.detach) run_pods_once();
    auto submitted = co_await submit_or_stop();
    if (!submitted) {
      const bool stopped = interruption_.count > 0 || interruption_.detached;
      print_error(context_.output, submitted.error());
      co_return report({}, stopped ? exit_code::kInterrupted : exit_code::kOurs,
                       submitted.error().message);
    }
    submitted_ = std::move(*submitted);
    if (!target_.tier().empty()) screen_.note(fmt::format("      Tier  {}", target_.tier()));
    if (!context_.capacity.empty())
      screen_.note(fmt::format("  Declared  {}", describe(context_.capacity)));
    tell_created();
    if (options_.detach) co_return detach();
    if (runs_nothing()) co_return report({}, exit_code::kOk);
    co_return co_await follow();
  }

  // Who runs a pod that says nothing of restarts, and waits for its end, wants one run of it.
  void run_pods_once() {
    for (Manifest& manifest : manifests_) {
      if (manifest.resource != api::pods() || !manifest.object["spec"].is_object()) continue;
      json::Value& policy = manifest.object["spec"]["restartPolicy"];
      if (policy.is_null()) policy = "Never";
    }
  }

  // What was begun is finished where that takes a moment, so that it can be taken back.
  Task<Result<std::vector<Submitted>>> submit_or_stop() {
    std::stop_source stop;
    rt::TaskScope scope(context_.loop);
    scope.spawn(stop_soon(stop));
    auto task = target_.guard(submit(context_, target_, manifests_)).with_stop(stop.get_token());
    auto submitted = co_await std::move(task);
    co_await scope.close();
    if (!submitted && target_.failure()) co_return fail(*target_.failure());
    if (!submitted && stop.stop_requested()) {
      co_return fail(ErrorCode::Cancelled,
                     fmt::format("interrupted before all was created; what is there: {}",
                                 context_.command("get")));
    }
    co_return submitted;
  }
  Task<void> stop_soon(std::stop_source& stop) {
    if (!co_await interruption_.happened.wait()) co_return;
    if (co_await rt::sleep_for(context_.loop, std::chrono::seconds(2))) stop.request_stop();
  }

  [[nodiscard]] bool runs_nothing() const {
    return std::ranges::none_of(manifests_, [](const Manifest& manifest) {
      return manifest.dialect != nullptr || manifest.resource == api::pods();
    });
  }

  // What will be followed; of a file of claims and the like, what became of each is all there is to
  // say.
  void tell_created() {
    const bool all = runs_nothing();
    for (std::size_t i = 0; i < manifests_.size(); ++i) {
      const bool follows = followed(manifests_[i], submitted_[i]).has_value();
      if (!all && !follows) continue;
      screen_.note(fmt::format("{}  {} {}{}", submitted_[i].is_new ? "   Created" : "Up to date",
                               manifests_[i].resource.kind,
                               api::key_of(*submitted_[i].object).text(),
                               follows ? " on " + target_.description() : ""));
    }
  }

  int detach() {
    std::vector<RunResult> results;
    for (std::size_t i = 0; i < manifests_.size(); ++i) {
      const auto one = followed(manifests_[i], submitted_[i]);
      if (!one) continue;
      const std::string name = one->spelling();
      screen_.note(fmt::format("    Attach  {}", context_.command("attach " + name)));
      screen_.note(fmt::format("      Look  {}", context_.command("describe " + name)));
      screen_.note(fmt::format("      Stop  {}", context_.command("delete " + name)));
      results.push_back({.resource = one->resource,
                         .key = one->key,
                         .uid = one->uid,
                         .view = one->view(*submitted_[i].object),
                         .created = api::creation_time_of(*submitted_[i].object)});
    }
    return report(results, exit_code::kOk);
  }

  Task<int> follow() {
    std::vector<Followed> all;
    for (std::size_t i = 0; i < manifests_.size(); ++i) {
      if (auto one = followed(manifests_[i], submitted_[i])) all.push_back(std::move(*one));
    }
    AttachedRuns runs(context_, target_, screen_, interruption_, std::move(all),
                      {.ours = true, .again = again()});
    context_.output.on_broken([this] { interruption_.detach(); });
    const int code = co_await target_.guard(runs.follow());
    context_.output.on_broken({});
    if (const auto& failure = target_.failure()) {
      print_error(context_.output, *failure);
      co_return report(runs.results(), exit_code::kOurs, failure->message);
    }
    const bool stopped = interruption_.count > 0;
    const bool stays = interruption_.detached || interruption_.is_final();
    if (!stays && (stopped || options_.remove)) co_await take_back();
    co_return report(runs.results(), code);
  }

  // Standard input cannot be read a second time.
  [[nodiscard]] std::string again() const {
    return std::ranges::find(options_.files, "-") == options_.files.end() ? context_.typed : "";
  }

  Task<void> take_back() {
    const auto kept = co_await clean_up(context_, target_.cluster(), manifests_, submitted_);
    for (const std::string& one : kept) screen_.note(fmt::format("      Kept  {}", one));
    for (std::size_t i = 0; i < manifests_.size(); ++i) {
      const auto one = followed(manifests_[i], submitted_[i]);
      if (!one || !submitted_[i].is_new) continue;
      const auto gone = co_await rt::with_timeout(
          context_.loop, interruption_.count > 1 ? kPatienceAfterKill : kPatience,
          wait_until_deleted(context_, target_.cluster(), one->resource, one->key, one->uid));
      if (!gone) print_error(context_.output, gone.error());
    }
  }

  int report(const std::vector<RunResult>& results, int code, const std::string& error = "") {
    screen_.clear_status();
    const auto written = write_reports(context_.output, reports_, results, code, error);
    if (written) return code;
    print_error(context_.output, written.error());
    return code == exit_code::kOk ? exit_code::kOurs : code;
  }

  Context& context_;
  OpenCluster& target_;
  const RunOptions& options_;
  const Reports& reports_;
  std::vector<Manifest> manifests_;
  std::vector<Submitted> submitted_;
  ErrorStream to_error_;
  Screen screen_;
  Interruption interruption_;
};

// Nothing could be run: said, and where results go too.
int refuse(Context& context, const Reports& reports, const Error& error) {
  print_error(context.output, error);
  const auto written = write_reports(context.output, reports, {}, exit_code::kOurs, error.message);
  if (!written) print_error(context.output, written.error());
  return exit_code::kOurs;
}

// Something else that somebody left running: its plane stays, and who wonders should know why.
void tell_unfinished(Context& context, const OpenCluster& target) {
  const auto& names = target.unfinished();
  if (names.empty()) return;
  const auto shown = std::min(names.size(), kNamedUnfinished);
  std::string what =
      join({names.begin(), names.begin() + static_cast<std::ptrdiff_t>(shown)}, ", ");
  if (names.size() > shown) what += fmt::format(" and {} more", names.size() - shown);
  context.output.note("Unfinished  {} in the background: {}\n", what, context.command("get -A"));
}

}  // namespace

Task<int> run(Context& context, RunOptions options) {
  const Reports reports{.print = options.output == "json" && !options.dry_run,
                        .json_file = options.report,
                        .junit_file = options.junit};
  if (const auto checked = check_reports(reports); !checked) {
    print_error(context.output, checked.error());
    co_return exit_code::kOurs;
  }
  auto manifests = manifests_for_run(context, options.files, options.submission);
  if (!manifests) co_return refuse(context, reports, manifests.error());
  if (options.dry_run) co_return print_planned(context.output, *manifests, options.output);
  auto target = co_await OpenCluster::open(context, PlaneParts::All);
  if (!target) co_return refuse(context, reports, target.error());
  int code = exit_code::kOurs;
  bool detached = false;
  {
    RunVerb verb(context, **target, options, reports, std::move(*manifests));
    code = co_await verb.run();
    detached = verb.detached();
  }
  co_await (*target)->close();
  if (!detached) tell_unfinished(context, **target);
  co_return code;
}

}  // namespace muster::cli
