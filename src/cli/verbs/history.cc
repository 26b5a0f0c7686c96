#include <fmt/format.h>

#include "base/strings.h"
#include "cli/history/run_record.h"
#include "cli/logs/log_target.h"
#include "cli/print_error.h"
#include "cli/terminal/columns.h"
#include "cli/terminal/terminal.h"
#include "cli/verbs/verbs.h"
#include "json/write.h"

namespace muster::cli {
namespace {

std::optional<Duration> duration_of(const RunRecord& run) {
  if (!run.end || !run.end->started || !run.end->ended) return std::nullopt;
  return *run.end->ended - *run.end->started;
}

std::string ranks_of(const RunRecord& run) {
  return run.end ? std::to_string(run.end->ranks) : "-";
}

std::string started(const RunRecord& run) {
  return format_time(run.end && run.end->started ? *run.end->started : run.created);
}

void print_table(Output& output, const std::vector<RunRecord>& runs, bool namespaces) {
  std::vector<std::vector<std::string>> rows;
  rows.push_back({"NAME", "RUN", "KIND", "RESULT", "CODE", "STARTED", "DURATION", "RANKS"});
  if (namespaces) rows.back().insert(rows.back().begin(), "NAMESPACE");
  for (const RunRecord& run : runs) {
    const auto duration = duration_of(run);
    rows.push_back({run.name, run.id(), run.kind, run.end ? run.end->result : "-",
                    run.end ? std::to_string(run.end->exit_code) : "-", started(run),
                    duration ? clock_time(*duration) : "-", ranks_of(run)});
    if (namespaces) rows.back().insert(rows.back().begin(), run.ns);
  }
  output.print("{}", columns(rows));
}

json::Value as_json(const RunRecord& run) {
  json::Value value = json::Object{{"name", run.name},
                                   {"namespace", run.ns},
                                   {"kind", run.kind},
                                   {"resource", run.resource},
                                   {"run", run.id()},
                                   {"uid", run.uid},
                                   {"created", format_time(run.created)}};
  if (!run.end) return value;
  value["result"] = run.end->result;
  value["exitCode"] = run.end->exit_code;
  if (!run.end->message.empty()) value["message"] = run.end->message;
  if (!run.end->cause.empty()) value["cause"] = run.end->cause;
  if (run.end->started) value["started"] = format_time(*run.end->started);
  if (run.end->ended) value["ended"] = format_time(*run.end->ended);
  if (const auto duration = duration_of(run))
    value["durationSeconds"] = std::chrono::duration<double>(*duration).count();
  value["ranks"] = run.end->ranks;
  value["restarts"] = run.end->restarts;
  return value;
}

void print_json(Output& output, const std::vector<RunRecord>& runs) {
  json::Value list = json::Object{{"apiVersion", "muster.dev/v1"}, {"kind", "RunList"}};
  list["items"] = json::Array();
  for (const RunRecord& run : runs) list["items"].array().push_back(as_json(run));
  output.print("{}\n", json::write_pretty(list));
}

}  // namespace

Task<int> history(Context& context, HistoryOptions options) {
  if (context.wants_cluster()) {
    print_error(context.output,
                {.code = ErrorCode::BadRequest,
                 .message = "a cluster has no history of runs; this machine's is shown without "
                            "--kubeconfig and --context"});
    co_return exit_code::kUsage;
  }
  std::optional<LogName> name;
  if (!options.name.empty()) {
    auto parsed = parse_log_name(context.registry, options.name);
    if (!parsed) co_return refuse_resource(context.output, parsed.error());
    name = std::move(*parsed);
  }
  const std::string ns = context.ns.empty() ? "default" : context.ns;
  std::vector<RunRecord> runs;
  for (RunRecord& run : read_history(context.home)) {
    if (!context.all_namespaces && run.ns != ns) continue;
    if (name && !names_run(*name, run)) continue;
    runs.push_back(std::move(run));
  }
  if (options.output == "json") {
    print_json(context.output, runs);
    co_return exit_code::kOk;
  }
  if (runs.empty()) {
    context.output.note("nothing has run{} in {}\n", name ? " as " + printable(options.name) : "",
                        context.home);
    co_return !name ? exit_code::kOk : exit_code::kFailed;
  }
  print_table(context.output, runs, context.all_namespaces);
  co_return exit_code::kOk;
}

}  // namespace muster::cli
