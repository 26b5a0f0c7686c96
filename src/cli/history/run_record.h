#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/time.h"
#include "json/value.h"

// What a home remembers of its runs, one file a run in HOME/history: a line of JSON when the run
// begins, one for each of its pods when it comes and when it ends, and one for its own end. Lines
// are only ever added; the last one about a thing counts, and one that was torn is passed over.
namespace muster::cli {

struct RecordedPod {
  std::string name;
  std::string uid;
  std::string role;  // empty: the pod is no rank
  int index = 0;
  std::vector<std::string> containers;
  std::optional<int>
      exit_code;        // of the container that failed first, else 0; none: it has not ended
  bool failed = false;  // by itself: nobody stopped it
};

// How a run ended, in the words that people see.
struct RecordedEnd {
  std::string result;  // Succeeded, Failed, Deleted; Unknown: nobody was there to see it
  int exit_code = 0;
  std::string message;
  std::string cause;  // Worker 3: exit 1
  std::optional<Time> started;
  std::optional<Time> ended;
  int ranks = 0;
  std::int64_t restarts = 0;
};

struct RunRecord {
  std::string ns;
  std::string name;
  std::string kind;
  std::string resource;  // plural.group
  std::string uid;
  Time created{};
  std::optional<Time> started;
  std::vector<RecordedPod> pods;  // in the order in which they came
  std::optional<RecordedEnd> end;

  // By which people tell it from others of its name: the beginning of the uid.
  [[nodiscard]] std::string id() const { return uid.substr(0, 8); }
  [[nodiscard]] RecordedPod* find_pod(std::string_view pod_uid);
};

std::string history_directory(const std::string& home);
std::string record_path(const std::string& home, const std::string& uid);

json::Value begin_line(const RunRecord& run);
json::Value pod_line(const RecordedPod& pod);
json::Value end_line(const RecordedEnd& end);
// Adds a line to a run's file.
Result<void> append_line(const std::string& home, const std::string& uid, const json::Value& line);

RunRecord parse_record(std::string_view text);
// NotFound when there is none.
Result<RunRecord> read_record(const std::string& home, const std::string& uid);
// All of a home, the newest first.
std::vector<RunRecord> read_history(const std::string& home);

}  // namespace muster::cli
