#include "cli/run/failure.h"

#include <cstring>
#include <optional>

#include <fmt/format.h>

#include "base/strings.h"
#include "cli/terminal/terminal.h"

namespace muster::cli {
namespace {

using plan::Cause;
using plan::CauseKind;

constexpr std::string_view kDeadlineField = "activeDeadlineSeconds";

// "Worker 3", or "pod x" of one that is no rank; empty: nobody in particular.
std::string who(const Cause& cause) {
  if (!cause.role.empty()) return fmt::format("{} {}", cause.role, cause.index);
  return cause.pod.empty() ? "" : "pod " + cause.pod;
}

std::string row(std::string_view name, std::string_view text) {
  return fmt::format("  {:<10}  {}\n", name, text);
}

// Pod templates have deadlines of their own, which are not the job's.
std::optional<std::string> find_deadline(const json::Value& value, const std::string& path) {
  for (const auto& [key, member] : value.as_object()) {
    const std::string here = path + "." + std::string(key);
    if (key == kDeadlineField && member.is_number())
      return fmt::format("{}: {}", here, member.as_int());
    if (key == "template" || !member.is_object()) continue;
    if (auto found = find_deadline(member, here)) return found;
  }
  return std::nullopt;
}

std::string first_row(const JobView& job) {
  const Cause& cause = *job.ledger.cause;
  if (cause.pod.empty())
    return row("root cause", printable(cause.text.empty() ? job.message : cause.text));
  const std::string rank =
      cause.role.empty() ? "" : fmt::format("{} {} · ", cause.role, cause.index);
  return row("root cause", fmt::format("{}pod {} · {}", rank, cause.pod, ended_how(cause)));
}

// The kind's own words, where ours do not repeat them.
std::string condition_row(const JobView& job) {
  if (job.message.empty() || job.message == job.ledger.cause->text) return "";
  return row("condition",
             printable(job.reason.empty() ? job.message : job.reason + ": " + job.message));
}

std::string logs_row(const Context& context, const Cause& cause, const std::string& name) {
  if (cause.role.empty())
    return cause.pod.empty() ? "" : row("logs", context.command("logs pods/" + cause.pod));
  return row("logs", context.command(fmt::format("logs {} --role {} --rank {}", name, cause.role,
                                                 cause.index)));
}

}  // namespace

std::string ended_how(const Cause& cause) {
  if (!cause.exit_code) return cause.reason.empty() ? "ended" : cause.reason;
  const int code = *cause.exit_code;
  if (cause.reason == "OOMKilled") return "out of memory (OOMKilled, exit 137)";
  if (code > 128 && code < 128 + 65) {
    const char* name = ::sigabbrev_np(code - 128);
    return fmt::format("killed by signal {} (SIG{})", code - 128, name == nullptr ? "?" : name);
  }
  if (code == 127) return "exit 127: command not found";
  if (code == 126) return "exit 126: command cannot be executed";
  return fmt::format("exit {}", code);
}

std::string failure_sentence(const JobView& job, const FailureNotes& notes) {
  const auto& cause = job.ledger.cause;
  if (!cause) return printable(job.message);
  if (cause->kind == CauseKind::Deadline) {
    return notes.deadline.empty() ? printable(job.message)
                                  : fmt::format("it ran into {}", notes.deadline);
  }
  const std::string whose = who(*cause);
  if (whose.empty()) return printable(cause->text.empty() ? job.message : cause->text);
  if (cause->kind == CauseKind::BackoffLimit)
    return fmt::format("{} failed once more than backoffLimit allows: {}", whose,
                       ended_how(*cause));
  const bool says_why = !cause->exit_code && !cause->text.empty();
  return fmt::format("{}: {}{}", whose, ended_how(*cause),
                     says_why ? ": " + printable(cause->text) : "");
}

std::string root_cause(const Context& context, const JobView& job, const std::string& name,
                       const FailureNotes& notes) {
  if (job.phase != plan::Phase::Failed) return {};
  const auto& cause = job.ledger.cause;
  std::string out = cause ? first_row(job) : row("root cause", printable(job.message));
  for (const std::string& line : notes.last_lines) out += row("", safe_line(line, false));
  if (cause && !cause->pod.empty() && !cause->text.empty() && notes.last_lines.empty())
    out += row("", printable(cause->text));
  if (!notes.stopped.empty()) out += row("stopped", notes.stopped + ", because of it");
  if (cause && cause->kind == CauseKind::BackoffLimit) out += row("limit", "backoffLimit reached");
  if (cause && cause->kind == CauseKind::Deadline && !notes.deadline.empty())
    out += row("deadline", notes.deadline);
  if (cause) out += condition_row(job) + logs_row(context, *cause, name);
  if (!notes.again.empty()) out += row("again", notes.again);
  return out;
}

std::string deadline_of(const json::Value& object) {
  return find_deadline(object["spec"], "spec").value_or("");
}

}  // namespace muster::cli
