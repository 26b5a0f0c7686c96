#include "agent/paddle_legacy/paddle_legacy.h"

#include <algorithm>
#include <csignal>
#include <filesystem>

#include <fmt/format.h>

#include "agent/files.h"
#include "agent/kubernetes_api.h"
#include "agent/output.h"
#include "agent/own_addresses.h"
#include "agent/paddle_legacy/training.h"
#include "base/strings.h"

namespace muster::agent::paddle_legacy {
namespace {

using namespace std::chrono_literals;

constexpr Duration kFirstPause = 500ms;
constexpr Duration kLongestPause = 5s;
// The pods' statuses in the API lag behind; ours comes, or the addresses do not fit together.
constexpr Duration kOwnStatusLimit = 60s;

std::string names_in(const std::string& directory) {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(directory, error))
    names.push_back(entry.path().filename().string());
  std::ranges::sort(names);
  return names.empty() ? "nothing" : join(names, ", ");
}

// The trainer's own copy of the configuration; gives the directory to run in.
Result<std::string> copy_configuration(const Settings& settings, const Environment& environment) {
  const auto source = settings.root() + "/" + settings.config_directory;
  std::error_code error;
  if (!std::filesystem::is_directory(source, error)) {
    return fail(
        ErrorCode::NotFound,
        fmt::format("TRAIN_CONFIG_DIR is \"{}\", but there is no directory {}; in {} there is: {}",
                    settings.config_directory, source, settings.root(), names_in(settings.root())));
  }
  auto work = environment.get("MUSTER_WORK_DIRECTORY");
  if (work.empty()) work = "/root";
  auto directory = work + "/" + settings.config_directory;
  if (auto copied = copy_contents(source, directory); !copied) {
    return fail(copied.error().in("the configuration (MUSTER_WORK_DIRECTORY says where to)"));
  }
  return directory;
}

Result<void> copy_data(const Settings& settings, int id, const std::string& directory) {
  const auto source = fmt::format("{}/{}/data", settings.root(), id);
  auto copied = copy_contents(source, directory + "/data");
  if (!copied) return fail(copied.error().in(fmt::format("the data of trainer {}", id)));
  return {};
}

struct Found {
  Roster roster;
  int id = 0;
};

Task<Result<Found>> find_peers(rt::RealLoop& loop, KubernetesApi& api, Settings settings) {
  std::optional<Monotonic> complete_since;
  std::size_t said = 0;
  for (Duration pause = kFirstPause;; pause = std::min(pause * 3 / 2, kLongestPause)) {
    const auto pods =
        CO_TRY(co_await api.list_pods(settings.job_namespace, "job-name=" + settings.job_name));
    auto running = running_pods(pods);
    const auto count = running.size();
    auto roster = CO_TRY(complete_roster(std::move(running), settings));
    if (roster) {
      const auto id = trainer_id(*roster, own_addresses());
      if (id) co_return Found{.roster = std::move(*roster), .id = *id};
      if (!complete_since) complete_since = loop.monotonic();
      if (loop.monotonic() - *complete_since > kOwnStatusLimit) co_return fail(id.error());
    } else {
      complete_since.reset();
    }
    if (said != count + 1) {
      say(fmt::format("{} of {} pods of job {} are running", count, settings.gradient_num,
                      settings.job_name));
      said = count + 1;
    }
    CO_TRY(co_await rt::sleep_for(loop, pause));
  }
}

Task<Result<Found>> find_peers(VerbContext& context, Settings settings) {
  auto api = CO_TRY(KubernetesApi::create(context.loop, context.pool, context.environment));
  auto found = co_await find_peers(context.loop, *api, std::move(settings));
  co_await api->close();
  co_return found;
}

Task<Result<int>> start(VerbContext& context, Ending& ending) {
  const auto settings = CO_TRY(read_settings(context.environment, pod_namespace()));
  auto options = default_options(settings);
  CO_TRY(add_options(options, context.arguments));
  const auto directory = CO_TRY(copy_configuration(settings, context.environment));
  auto found = CO_TRY(co_await find_peers(context, settings));
  CO_TRY(copy_data(settings, found.id, directory));
  CO_TRY(make_directories(fmt::format("{}/node_{}", settings.output(), found.id)));
  say(fmt::format("trainer {} of {} in {}; PServers on {}", found.id, settings.gradient_num,
                  directory, join(found.roster, ", ")));
  Training training(context, ending,
                    {.settings = settings,
                     .options = std::move(options),
                     .roster = std::move(found.roster),
                     .id = found.id,
                     .directory = directory});
  co_return co_await training.run();
}

Task<void> watch_signals(rt::Signals& signals, Ending& ending) {
  while (true) {
    const auto number = co_await signals.next();
    if (!number) co_return;
    ending.take(*number);
  }
}

}  // namespace

Task<Result<int>> run(VerbContext& context) {
  Ending ending;
  rt::Signals signals(context.loop, {SIGTERM, SIGINT});
  rt::TaskScope scope(context.loop);
  scope.spawn(watch_signals(signals, ending));
  auto started = start(context, ending).with_stop(ending.token());
  auto code = co_await std::move(started);
  co_await scope.close();
  if (!code && code.error().code == ErrorCode::Cancelled && ending.signal() != 0)
    co_return 128 + ending.signal();
  co_return code;
}

}  // namespace muster::agent::paddle_legacy
