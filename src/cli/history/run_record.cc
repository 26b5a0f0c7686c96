#include "cli/history/run_record.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "api/object.h"
#include "base/fd.h"
#include "json/read.h"
#include "json/write.h"

namespace muster::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSuffix = ".jsonl";

void put(json::Value& line, const char* name, const std::optional<Time>& time) {
  if (time) line[name] = format_micro_time(*time);
}

void read_begin(const json::Value& line, RunRecord& run) {
  run.ns = line["namespace"].as_string();
  run.name = line["name"].as_string();
  run.kind = line["kind"].as_string();
  run.resource = line["resource"].as_string();
  run.uid = line["uid"].as_string();
  run.created = api::time_at(line["created"]).value_or(Time{});
}

void read_pod(const json::Value& line, RunRecord& run) {
  RecordedPod pod{.name = line["name"].as_string(),
                  .uid = line["uid"].as_string(),
                  .role = line["role"].as_string(),
                  .index = static_cast<int>(line["index"].as_int()),
                  .failed = line["failed"].as_bool()};
  for (const json::Value& container : line["containers"].as_array())
    pod.containers.push_back(container.as_string());
  if (line["exitCode"].is_int()) pod.exit_code = static_cast<int>(line["exitCode"].as_int());
  if (RecordedPod* known = run.find_pod(pod.uid)) {
    *known = std::move(pod);
  } else {
    run.pods.push_back(std::move(pod));
  }
}

void read_end(const json::Value& line, RunRecord& run) {
  run.end = RecordedEnd{.result = line["result"].as_string(),
                        .exit_code = static_cast<int>(line["exitCode"].as_int()),
                        .message = line["message"].as_string(),
                        .cause = line["cause"].as_string(),
                        .started = api::time_at(line["started"]),
                        .ended = api::time_at(line["ended"]),
                        .ranks = static_cast<int>(line["ranks"].as_int()),
                        .restarts = line["restarts"].as_int()};
}

}  // namespace

RecordedPod* RunRecord::find_pod(std::string_view pod_uid) {
  const auto found = std::ranges::find(pods, pod_uid, &RecordedPod::uid);
  return found == pods.end() ? nullptr : &*found;
}

std::string history_directory(const std::string& home) {
  return home + "/history";
}

std::string record_path(const std::string& home, const std::string& uid) {
  return history_directory(home) + "/" + uid + std::string(kSuffix);
}

json::Value begin_line(const RunRecord& run) {
  json::Value line;
  line["run"] = json::Object{{"name", run.name}, {"namespace", run.ns},
                             {"kind", run.kind}, {"resource", run.resource},
                             {"uid", run.uid},   {"created", format_micro_time(run.created)}};
  return line;
}

json::Value pod_line(const RecordedPod& pod) {
  json::Value line;
  json::Value& value = line["pod"];
  value = json::Object{{"name", pod.name}, {"uid", pod.uid}};
  if (!pod.role.empty()) {
    value["role"] = pod.role;
    value["index"] = pod.index;
  }
  value["containers"] = json::Array();
  for (const std::string& container : pod.containers)
    value["containers"].array().emplace_back(container);
  if (pod.exit_code) value["exitCode"] = *pod.exit_code;
  if (pod.failed) value["failed"] = true;
  return line;
}

json::Value end_line(const RecordedEnd& end) {
  json::Value line;
  json::Value& value = line["end"];
  value = json::Object{{"result", end.result}, {"exitCode", end.exit_code}};
  if (!end.message.empty()) value["message"] = end.message;
  if (!end.cause.empty()) value["cause"] = end.cause;
  put(value, "started", end.started);
  put(value, "ended", end.ended);
  value["ranks"] = end.ranks;
  value["restarts"] = end.restarts;
  return line;
}

Result<void> append_line(const std::string& home, const std::string& uid, const json::Value& line) {
  const std::string path = record_path(home, uid);
  Fd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file.valid() && errno == ENOENT) {
    if (::mkdir(history_directory(home).c_str(), 0700) != 0 && errno != EEXIST)
      return fail_errno("make " + history_directory(home));
    file = Fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600));
  }
  if (!file.valid()) return fail_errno("open " + path);
  // In front, too: what a full disk cut off must not swallow this line.
  const std::string text = "\n" + json::write(line) + "\n";
  const auto written = ::write(file.get(), text.data(), text.size());
  if (written < 0) return fail_errno("write " + path);
  if (static_cast<std::size_t>(written) < text.size())
    return fail(ErrorCode::Io, "write " + path + ": no space for all of it");
  return {};
}

RunRecord parse_record(std::string_view text) {
  RunRecord run;
  while (!text.empty()) {
    const auto newline = text.find('\n');
    const auto line = text.substr(0, newline);
    text.remove_prefix(newline == std::string_view::npos ? text.size() : newline + 1);
    if (line.empty()) continue;
    const auto value = json::read(line);
    if (!value) continue;
    if ((*value)["run"].is_object()) read_begin((*value)["run"], run);
    if ((*value)["pod"].is_object()) read_pod((*value)["pod"], run);
    if ((*value)["end"].is_object()) read_end((*value)["end"], run);
  }
  return run;
}

Result<RunRecord> read_record(const std::string& home, const std::string& uid) {
  std::ifstream file(record_path(home, uid), std::ios::binary);
  if (!file) return fail(ErrorCode::NotFound, "there is no record of run " + uid);
  std::ostringstream text;
  text << file.rdbuf();
  return parse_record(text.str());
}

std::vector<RunRecord> read_history(const std::string& home) {
  std::vector<RunRecord> runs;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(history_directory(home), error)) {
    const std::string name = entry.path().filename();
    if (!name.ends_with(kSuffix)) continue;
    auto run = read_record(home, name.substr(0, name.size() - kSuffix.size()));
    if (run && !run->uid.empty()) runs.push_back(std::move(*run));
  }
  std::ranges::sort(runs, std::greater(),
                    [](const RunRecord& run) { return std::pair(run.created, run.uid); });
  return runs;
}

}  // namespace muster::cli
