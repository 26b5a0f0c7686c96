#include "cli/run/run_result.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/strings.h"
#include "cli/terminal/terminal.h"

namespace muster::cli {
namespace {

using Ended = RunResult::Ended;

// Whose exit code it is: a rank's, or ours for what became of the job.
bool is_the_jobs_own(const RunResult& result) {
  if (result.ended == Ended::Succeeded) return true;
  const auto& cause = result.view.ledger.cause;
  return result.ended == Ended::Failed && cause && cause->exit_code == result.exit_code;
}

double seconds(Duration duration) {
  return std::chrono::duration<double>(duration).count();
}

double rounded(Duration duration) {
  return static_cast<double>(
             std::chrono::duration_cast<std::chrono::milliseconds>(duration).count()) /
         1000;
}

json::Value ranks_of(const RunResult& result) {
  int succeeded = 0;
  int failed = 0;
  for (const auto& [role, count] : result.view.ledger.final_counts) {
    succeeded += count.succeeded;
    failed += count.failed;
  }
  if (result.resource == api::pods()) {
    succeeded = result.ended == Ended::Succeeded ? 1 : 0;
    failed = result.ended == Ended::Failed ? 1 : 0;
  }
  return json::Object{{"total", result.view.ranks}, {"succeeded", succeeded}, {"failed", failed}};
}

json::Value cause_of(const RunResult& result) {
  const plan::Cause& cause = *result.view.ledger.cause;
  json::Object out;
  out.set("kind", to_string(cause.kind));
  if (!cause.role.empty()) {
    out.set("role", cause.role);
    out.set("index", cause.index);
  }
  if (!cause.pod.empty()) out.set("pod", cause.pod);
  if (cause.exit_code) out.set("exitCode", *cause.exit_code);
  if (!cause.reason.empty()) out.set("reason", cause.reason);
  if (!cause.text.empty()) out.set("message", cause.text);
  if (cause.at) out.set("time", format_time(*cause.at));
  json::Array lines;
  for (const std::string& line : result.notes.last_lines)
    lines.emplace_back(safe_line(line, false));
  out.set("lastLines", std::move(lines));
  if (!result.notes.stopped.empty()) out.set("stopped", result.notes.stopped);
  return out;
}

json::Value to_json(const RunResult& result) {
  json::Object out{{"apiVersion", result.resource.api_version()},
                   {"kind", result.resource.kind},
                   {"namespace", result.key.ns},
                   {"name", result.key.name},
                   {"uid", result.uid},
                   {"state", to_string(result.ended)},
                   {"exitCode", result.exit_code},
                   {"source", is_the_jobs_own(result) ? "job" : "muster"},
                   {"ranks", ranks_of(result)},
                   {"restarts", result.view.restarts},
                   {"seconds", rounded(result.took)}};
  const auto set_time = [&](std::string_view name, const std::optional<Time>& time) {
    if (time) out.set(name, format_time(*time));
  };
  set_time("created", result.created);
  set_time("started", result.view.ledger.start_time);
  set_time("finished", result.finished);
  if (!result.message.empty()) out.set("message", result.message);
  if (result.ended == Ended::Failed && result.view.ledger.cause) out.set("cause", cause_of(result));
  return out;
}

std::string_view state_of(const std::vector<RunResult>& results, const std::string& error) {
  if (!error.empty()) return "Error";
  for (const Ended worst :
       {Ended::Stopped, Ended::Refused, Ended::Failed, Ended::Deleted, Ended::Detached}) {
    if (std::ranges::find(results, worst, &RunResult::ended) != results.end())
      return to_string(worst);
  }
  return to_string(Ended::Succeeded);
}

// XML has no way at all to write most control characters.
std::string xml(std::string_view text) {
  std::string out;
  for (const char c : printable(text)) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string trouble(std::string_view element, std::string_view type, const std::string& message,
                    const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += xml(safe_line(line, false)) + "\n";
  return fmt::format("      <{0} type=\"{1}\" message=\"{2}\">{3}</{0}>\n", element, xml(type),
                     xml(message), text);
}

std::string test_case(const RunResult& result) {
  const std::string head =
      fmt::format("    <testcase classname=\"{}\" name=\"{}\" time=\"{:.3f}\"",
                  result.resource.kind, xml(result.key.text()), seconds(result.took));
  if (result.ended == Ended::Succeeded) return head + "/>\n";
  if (result.ended == Ended::Detached) return head + ">\n      <skipped/>\n    </testcase>\n";
  const bool failed = result.ended == Ended::Failed;
  const auto& cause = result.view.ledger.cause;
  const std::string_view type = failed && cause ? to_string(cause->kind) : to_string(result.ended);
  return fmt::format(
      "{}>\n{}    </testcase>\n", head,
      trouble(failed ? "failure" : "error", type, result.message, result.notes.last_lines));
}

}  // namespace

std::string_view to_string(Ended ended) {
  switch (ended) {
    case Ended::Succeeded:
      return "Succeeded";
    case Ended::Failed:
      return "Failed";
    case Ended::Stopped:
      return "Stopped";
    case Ended::Deleted:
      return "Deleted";
    case Ended::Refused:
      return "Refused";
    case Ended::Detached:
      return "Detached";
  }
  return "Detached";
}

json::Value report_of(const std::vector<RunResult>& results, int code, const std::string& error) {
  json::Array jobs;
  for (const RunResult& result : results) jobs.push_back(to_json(result));
  json::Object out{{"apiVersion", "muster.dev/v1"},
                   {"kind", "RunResult"},
                   {"state", state_of(results, error)},
                   {"exitCode", code},
                   {"jobs", std::move(jobs)}};
  if (!error.empty()) out.set("message", error);
  return out;
}

std::string junit_of(const std::vector<RunResult>& results, const std::string& error) {
  std::string cases;
  std::size_t failures = 0;
  std::size_t errors = error.empty() ? 0 : 1;
  std::size_t skipped = 0;
  Duration longest{};
  for (const RunResult& result : results) {
    cases += test_case(result);
    longest = std::max(longest, result.took);
    if (result.ended == Ended::Failed) {
      ++failures;
    } else if (result.ended == Ended::Detached) {
      ++skipped;
    } else if (result.ended != Ended::Succeeded) {
      ++errors;
    }
  }
  if (!error.empty()) {
    cases += fmt::format(
        "    <testcase classname=\"muster\" name=\"run\" time=\"0.000\">\n{}"
        "    </testcase>\n",
        trouble("error", "Error", error, {}));
  }
  const std::size_t tests = results.size() + (error.empty() ? 0 : 1);
  const std::string counts =
      fmt::format("tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" time=\"{:.3f}\"",
                  tests, failures, errors, skipped, seconds(longest));
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites {0}>\n  <testsuite name=\"muster "
      "run\" {0}>\n{1}  </testsuite>\n</testsuites>\n",
      counts, cases);
}

}  // namespace muster::cli
