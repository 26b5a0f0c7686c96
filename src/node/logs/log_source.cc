#include "node/logs/log_source.h"

#include <fcntl.h>
#include <sys/stat.h>

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

bool same_file(int fd, const std::string& path) {
  struct stat ours{};
  struct stat there{};
  return ::fstat(fd, &ours) == 0 && ::stat(path.c_str(), &there) == 0 &&
         ours.st_ino == there.st_ino && ours.st_dev == there.st_dev;
}

// Where the last lines begin, found from the end in growing windows.
std::uint64_t tail_start(int fd, std::uint64_t size, std::size_t lines) {
  for (std::uint64_t window = kChunk;; window *= 4) {
    const auto begin = size > window ? size - window : 0;
    std::string bytes(static_cast<std::size_t>(size - begin), '\0');
    const auto got = ::pread(fd, bytes.data(), bytes.size(), static_cast<off_t>(begin));
    bytes.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    const auto offset = tail_offset(bytes, lines);
    if (offset > 0 || begin == 0) return begin + offset;
    // 64 MiB, the largest quota: whoever wants more lines gets the whole file.
    if (window > (std::uint64_t{64} << 20U)) return 0;
  }
}

}  // namespace

FileLogStream::FileLogStream(rt::Loop& loop, std::string path, const cluster::LogOptions& options,
                             std::function<bool()> ended)
    : loop_(loop),
      path_(std::move(path)),
      follow_(options.follow),
      tail_lines_(count_of(options.tail_lines)),
      ended_(std::move(ended)),
      decoder_(filter_of(options, loop.now())) {
  seek_tail();
}

void FileLogStream::seek_tail() {
  if (!tail_lines_) return;
  Fd file(::open(path_.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.valid()) return;
  struct stat info{};
  if (::fstat(file.get(), &info) < 0) return;
  const auto size = static_cast<std::uint64_t>(info.st_size);
  const auto start = tail_start(file.get(), size, *tail_lines_);
  // All of the new half and still not enough: the older half is read whole rather than miss lines.
  if (start == 0 && *tail_lines_ > 0 && ::access((path_ + ".1").c_str(), F_OK) == 0) {
    std::string all(static_cast<std::size_t>(size), '\0');
    const auto got = ::pread(file.get(), all.data(), all.size(), 0);
    all.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    const auto here = static_cast<std::size_t>(std::ranges::count(all, '\n'));
    if (here < *tail_lines_) {
      Fd older(::open((path_ + ".1").c_str(), O_RDONLY | O_CLOEXEC));
      if (older.valid() && ::fstat(older.get(), &info) == 0) {
        const auto from =
            tail_start(older.get(), static_cast<std::uint64_t>(info.st_size), *tail_lines_ - here);
        ::lseek(older.get(), static_cast<off_t>(from), SEEK_SET);
        file_ = std::move(older);
        in_rotated_ = true;
        rotated_first_ = false;
        return;
      }
    }
  }
  ::lseek(file.get(), static_cast<off_t>(start), SEEK_SET);
  file_ = std::move(file);
  rotated_first_ = false;
}

Result<bool> FileLogStream::open_next() {
  const bool older = rotated_first_;
  rotated_first_ = false;
  const auto path = older ? path_ + ".1" : path_;
  file_ = Fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file_.valid() && errno != ENOENT) return fail_errno("open " + path);
  in_rotated_ = older && file_.valid();
  return file_.valid();
}

Result<std::size_t> FileLogStream::read_chunk(std::string& out) {
  std::string bytes(kChunk, '\0');
  const auto got = ::read(file_.get(), bytes.data(), bytes.size());
  if (got < 0) return fail_errno("read " + path_);
  bytes.resize(static_cast<std::size_t>(got));
  if (!decoder_.feed(bytes, out)) over_ = true;
  return bytes.size();
}

Task<Result<std::optional<std::string>>> FileLogStream::next() {
  while (true) {
    if (over_) co_return std::nullopt;
    // Asked before the read: what was written until the end is then in the file.
    const bool ended = !follow_ || ended_();
    std::size_t got = 0;
    std::string out;
    if (file_.valid() || CO_TRY(open_next())) {
      got = CO_TRY(read_chunk(out));
    } else if (!in_rotated_ && !rotated_first_) {
      // No PATH.1, usually: then the file itself.
      if (CO_TRY(open_next())) got = CO_TRY(read_chunk(out));
    }
    if (!out.empty()) co_return out;
    if (got > 0) continue;
    const bool moved_on = file_.valid() && (in_rotated_ || !same_file(file_.get(), path_));
    if (moved_on) {
      file_.close();
      in_rotated_ = false;
      if (CO_TRY(open_next())) continue;
    }
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
