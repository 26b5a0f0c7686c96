#include "node/logs/log_source.h"

#include <algorithm>

#include <fmt/format.h>

#include "api/object.h"
#include "api/pod.h"
#include "base/strings.h"
#include "rt/wait.h"

namespace muster::node {

namespace {

constexpr std::size_t kChunk = std::size_t{64} << 10U;
// A line appears on the screen a tenth of a second later; ten small reads a second for each
// follower.
constexpr Duration kPoll = std::chrono::milliseconds(100);

// A negative count is none: 0 lines, 0 bytes.
std::optional<std::size_t> count_of(const std::optional<std::int64_t>& number) {
  if (!number) return std::nullopt;
  return static_cast<std::size_t>(std::max<std::int64_t>(*number, 0));
}

LogFilter filter_of(const cluster::LogOptions& options, Time now) {
  LogFilter out{.timestamps = options.timestamps, .limit_bytes = count_of(options.limit_bytes)};
  if (options.since_time) out.since = options.since_time;
  if (options.since_seconds) out.since = now - seconds_saturating(*options.since_seconds);
  return out;
}

}  // namespace

FileLogStream::FileLogStream(rt::Loop& loop, std::string path, const cluster::LogOptions& options,
                             std::function<bool()> ended)
    : loop_(loop),
      follow_(options.follow),
      ended_(std::move(ended)),
      file_(std::move(path)),
      decoder_(filter_of(options, loop.now())) {
  const auto lines = count_of(options.tail_lines);
  if (!lines) return;
  if (const auto sought = file_.seek_tail(*lines); !sought) failure_ = sought.error();
}

Task<Result<std::optional<std::string>>> FileLogStream::next() {
  if (failure_) co_return fail(*failure_);
  while (true) {
    if (over_) co_return std::nullopt;
    // Asked before the read: what was written until the end is then in the file.
    const bool ended = !follow_ || ended_();
    const std::string bytes = CO_TRY(file_.read(kChunk));
    std::string out;
    if (!decoder_.feed(bytes, out)) over_ = true;
    if (!out.empty()) co_return out;
    if (!bytes.empty()) continue;
    if (ended) {
      over_ = true;
      decoder_.finish(out);
      if (!out.empty()) co_return out;
      co_return std::nullopt;
    }
    CO_TRY(co_await rt::sleep_for(loop_, kPoll));
  }
}

Result<std::unique_ptr<cluster::LogStream>> LogSource::open(std::function<api::ObjectPtr()> pod,
                                                            const cluster::LogOptions& options) {
  const auto now = pod();
  if (!now) return fail(ErrorCode::NotFound, "the pod is not on this node");
  std::vector<std::string> names;
  for (const auto& container : (*now)["spec"]["containers"].as_array()) {
    names.push_back(container["name"].as_string());
  }
  auto container = options.container;
  if (container.empty() && names.size() > 1) {
    return fail(ErrorCode::BadRequest,
                fmt::format("a container name must be specified for pod {}, choose one of: [{}]",
                            api::name_of(*now), join(names, " ")));
  }
  if (container.empty()) container = names.empty() ? "" : names.front();
  const auto& status = api::container_status(*now, container);
  int attempt = static_cast<int>(status["restartCount"].as_int());
  const bool between_runs = status["state"]["waiting"].is_object() && attempt >= 0 &&
                            status["lastState"]["terminated"].is_object();
  if (options.previous) {
    // Between two runs the last one is still the current attempt.
    if (!between_runs) --attempt;
    if (attempt < 0) {
      return fail(ErrorCode::BadRequest,
                  fmt::format("previous terminated container \"{}\" in pod \"{}\" not found",
                              container, api::name_of(*now)));
    }
  } else if (status["state"]["waiting"].is_object() && !between_runs) {
    return fail(ErrorCode::BadRequest,
                fmt::format("container \"{}\" in pod \"{}\" is waiting to start: {}", container,
                            api::name_of(*now), status["state"]["waiting"]["reason"].as_string()));
  }
  const auto path = runtime_.log_path(api::namespace_of(*now), api::name_of(*now),
                                      api::uid_of(*now), container, attempt);
  const auto ended = [pod = std::move(pod), container, attempt] {
    const auto fresh = pod();
    if (!fresh) return true;
    const auto& state = api::container_status(*fresh, container);
    return state["restartCount"].as_int() > attempt || !state["state"]["running"].is_object();
  };
  return std::make_unique<FileLogStream>(loop_, path, options, ended);
}

}  // namespace muster::node
