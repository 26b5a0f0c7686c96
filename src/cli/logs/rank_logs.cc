#include "cli/logs/rank_logs.h"

#include <algorithm>

#include <fmt/format.h>

#include "api/pod.h"
#include "base/strings.h"
#include "cli/logs/merge.h"
#include "cli/logs/trouble.h"
#include "node/runtime/log_places.h"
#include "plan/plan.h"

namespace muster::cli {
namespace {

using std::chrono::milliseconds;

// Files that are merged share this much memory; no window is smaller than a few lines.
constexpr std::size_t kMergeBytes = std::size_t{16} << 20U;
constexpr std::size_t kSmallestWindow = std::size_t{4} << 10U;
constexpr std::size_t kLargestWindow = std::size_t{64} << 10U;
// More logs than this are read through the API without holding a connection for each.
constexpr std::size_t kHeldConnections = 64;

// No line is shown later than this. A look at a file that has not changed is one stat(2), some 2
// µs.
constexpr Duration kRarely = milliseconds(100);
// Of one file in a row, so that a rank that floods does not keep others waiting.
constexpr int kReadsInARow = 16;

bool on_a_node(const json::Value& pod) {
  return !api::node_name_of(pod).empty();
}

}  // namespace

RankLogs::RankLogs(Context& context, cluster::Cluster& cluster, LogSink& sink, Options options)
    : context_(context),
      cluster_(cluster),
      sink_(sink),
      options_(std::move(options)),
      local_(!context.wants_cluster()),
      woken_(context.loop),
      scope_(context.loop) {}

RankLogs::~RankLogs() = default;

bool RankLogs::wanted(const LogOrigin& origin) const {
  return options_.filter.accepts(origin.role, origin.index) &&
         (options_.container.empty() || origin.container.empty() ||
          options_.container == origin.container) &&
         (options_.pods.empty() || options_.pods.contains(origin.pod));
}

RankLogs::Entry& RankLogs::add(std::string key, LogOrigin origin, std::string pod_uid) {
  auto entry = std::make_unique<Entry>();
  entry->origin = std::move(origin);
  entry->pod_uid = std::move(pod_uid);
  return *logs_.emplace(std::move(key), std::move(entry)).first->second;
}

void RankLogs::see(const json::Value& pod) {
  LogOrigin origin{
      .pod = api::name_of(pod),
      .role = api::label_of(pod, plan::labels::kRole),
      .index = static_cast<int>(parse_int(api::label_of(pod, plan::labels::kIndex)).value_or(0))};
  if (!wanted(origin) || !on_a_node(pod)) return;
  origin.alone = pod["spec"]["containers"].as_array().size() == 1;
  for (const char* list : {"initContainers", "containers"}) {
    if (!options_.init && std::string_view(list) == "initContainers") continue;
    for (const json::Value& container : pod["spec"][list].as_array()) {
      origin.container = container["name"].as_string();
      see_container(pod, origin.container, origin);
    }
  }
  wait_ = kSoon;
  woken_.pulse();
}

void RankLogs::see_container(const json::Value& pod, const std::string& container,
                             LogOrigin origin) {
  if (!wanted(origin)) return;
  const std::string key = api::uid_of(pod) + "/" + container;
  const auto progress = ContainerProgress::of(pod, container);
  const auto known = logs_.find(key);
  if (known != logs_.end()) {
    known->second->progress = progress;
    known->second->log().see(progress);
    return;
  }
  // Files are looked for as soon as they may be there; an API has nothing to give before the start.
  if (!progress.started && !local_) return;
  const int attempt = options_.first_run ? 0 : progress.attempt;
  if (options_.previous && attempt == 0) return;
  Entry& entry = add(key, std::move(origin), api::uid_of(pod));
  entry.progress = progress;
  if (local_) {
    entry.file = std::make_unique<FileLog>(
        node::log_directory(context_.home, api::namespace_of(pod), api::name_of(pod),
                            api::uid_of(pod)),
        container, options_.previous ? attempt - 1 : attempt, options_.window);
  } else {
    entry.api = std::make_unique<ApiLog>(
        context_.loop, cluster_, api::key_of(pod), container, options_.window,
        ApiLog::Options{.previous = options_.previous,
                        .goes_on = options_.goes_on,
                        .on_trouble = [this, from = entry.origin](const Error& why) {
                          refuse(from, why);
                          tell_troubles();
                        }});
  }
  if (!options_.previous) entry.log().see(progress);
  if (following_ && entry.api) scope_.spawn(follow_api(entry));
}

void RankLogs::see_kept(const KeptContainer& container) {
  if (options_.previous && container.attempt == 0) return;
  if (options_.previous) {
    add_file(container, container.attempt - 1);
    return;
  }
  Entry* entry = add_file(container, options_.first_run ? 0 : container.attempt);
  if (entry == nullptr) return;
  entry->log().see(entry->progress);
  woken_.pulse();
}

void RankLogs::see_last(const KeptContainer& container) {
  const auto same_rank = [&](const auto& known) {
    const LogOrigin& origin = known.second->origin;
    return origin.role == container.origin.role && origin.index == container.origin.index &&
           origin.container == container.origin.container;
  };
  if (std::ranges::none_of(logs_, same_rank)) add_file(container, container.attempt);
}

RankLogs::Entry* RankLogs::add_file(const KeptContainer& container, int attempt) {
  const std::string key = container.pod_uid + "/" + container.origin.container;
  if (!wanted(container.origin) || logs_.contains(key)) return nullptr;
  Entry& entry = add(key, container.origin, container.pod_uid);
  entry.file = std::make_unique<FileLog>(container.directory, container.origin.container, attempt,
                                         options_.window);
  entry.progress = {.attempt = container.attempt, .started = true, .over = true};
  return &entry;
}

void RankLogs::forget(const std::string& pod_uid) {
  for (auto& [key, entry] : logs_) {
    if (entry->pod_uid != pod_uid) continue;
    entry->progress.over = true;
    entry->log().see(entry->progress);
  }
  woken_.pulse();
}

void RankLogs::give(Entry& entry, const LogPiece& piece) {
  if (piece.error) entry.both = true;
  entry.origin.error = piece.error;
  sink_.bytes(entry.origin, piece.time, piece.bytes);
}

void RankLogs::finish(Entry& entry) {
  if (entry.done) return;
  entry.done = true;
  for (const bool error : {false, true}) {
    entry.origin.error = error;
    if (!error || entry.both) sink_.ended(entry.origin);
  }
}

void RankLogs::finish_all() {
  for (auto& [key, entry] : logs_) finish(*entry);
}

void RankLogs::refuse(const LogOrigin& origin, const Error& error) {
  Trouble& trouble = troubles_[reason_of(error, origin)];
  if (trouble.whose.empty()) trouble.error = error;
  trouble.whose.emplace(origin.role, origin.index, name_of(origin));
}

void RankLogs::tell_troubles() {
  for (auto& [reason, trouble] : troubles_) {
    if (std::exchange(trouble.told, true)) continue;
    std::vector<std::string> names;
    for (const auto& [role, index, name] : trouble.whose) names.push_back(name);
    const std::string text = sentence_about(reason, trouble.error, names, context_.wants_cluster());
    if (options_.note) {
      options_.note(text);
    } else {
      context_.output.note("{}\n", text);
    }
  }
}

Task<Result<void>> RankLogs::show_present() {
  std::vector<Entry*> entries;
  std::vector<ContainerLog*> sources;
  for (auto& [key, entry] : logs_) {
    if (!entry->progress.started && !entry->file) continue;
    entries.push_back(entry.get());
  }
  // Of equal times a rank with a lower number comes first.
  std::ranges::sort(entries, {}, [](const Entry* entry) {
    return std::tie(entry->origin.role, entry->origin.index, entry->origin.pod,
                    entry->origin.container);
  });
  const std::size_t share = kMergeBytes / std::max<std::size_t>(1, entries.size());
  for (Entry* entry : entries) {
    sources.push_back(&entry->log());
    if (entry->file)
      entry->file->limit_window(std::clamp(share, kSmallestWindow, kLargestWindow));
    else
      entry->api->hold_open(entries.size() <= kHeldConnections);
  }
  LogMerge merge(
      context_.loop, std::move(sources),
      [&](std::size_t i, const LogPiece& piece) {
        give(*entries[i], piece);
        return !stopped_;
      },
      [&](std::size_t i, const Error& error) {
        ++refused_;
        refuse(entries[i]->origin, error);
      });
  if (options_.window.tail) merge.keep_tail(static_cast<std::size_t>(*options_.window.tail));
  options_.window.tail.reset();  // of what comes later, everything
  co_return co_await merge.run();
}

void RankLogs::follow() {
  following_ = true;
  if (local_) scope_.spawn(poll_files());
  for (auto& [key, entry] : logs_) {
    if (entry->api) scope_.spawn(follow_api(*entry));
  }
}

// True: something came.
bool RankLogs::poll(Entry& entry) {
  // Asked before the read: what was written until the end is then in the file.
  const bool over = finishing_ || entry.file->over();
  for (int i = 0; i < kReadsInARow; ++i) {
    const auto pieces = entry.file->read();
    if (!pieces) {
      refuse(entry.origin, pieces.error());
      tell_troubles();
      finish(entry);
      return false;
    }
    for (const LogPiece& piece : *pieces) give(entry, piece);
    if (!pieces->empty()) continue;
    if (over) finish(entry);
    return i > 0;
  }
  return true;
}

Task<void> RankLogs::poll_files() {
  while (true) {
    bool came = false;
    bool waiting = false;
    for (auto& [key, entry] : logs_) {
      if (entry->done) continue;
      came = poll(*entry) || came;
      waiting = waiting || !entry->done;
    }
    if (finishing_ && !waiting) co_return;
    // A quarter longer each time: what comes after a pause is late by at most a quarter of it.
    wait_ = came ? kSoon : std::min(wait_ * 5 / 4, kRarely);
    const rt::Timer enough(context_.loop, wait_, [this] { woken_.pulse(); });
    if (!co_await woken_.wait()) co_return;
  }
}

Task<void> RankLogs::follow_api(Entry& entry) {
  while (true) {
    const auto pieces = co_await entry.api->more();
    if (!pieces && pieces.error().code != ErrorCode::Cancelled) {
      refuse(entry.origin, pieces.error());
      tell_troubles();
    }
    if (!pieces || pieces->empty()) break;
    for (const LogPiece& piece : *pieces) give(entry, piece);
  }
  finish(entry);
}

Task<void> RankLogs::drain(Duration limit) {
  finishing_ = true;
  woken_.pulse();
  const rt::Timer enough(context_.loop, limit, [this] { scope_.request_stop(); });
  co_await scope_.join();
}

Task<void> RankLogs::close() {
  co_await scope_.close();
}

}  // namespace muster::cli
