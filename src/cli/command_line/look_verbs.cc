#include "base/strings.h"
#include "cli/command_line/parser.h"
#include "cli/command_line/values.h"
#include "cli/jobs/duration.h"
#include "cli/tables/format.h"
#include "cli/verbs/verbs.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

// Verbs that look.
namespace muster::cli {
namespace {

Result<Time> point_in_time(const std::string& text) {
  if (const auto time = parse_time(text)) return *time;
  return fail(ErrorCode::BadRequest, fmt::format("\"{}\" is no RFC 3339 time such as "
                                                 "2026-11-15T03:04:05Z",
                                                 printable(text)));
}

Task<int> print_explanation(Context& context, ExplainOptions options) {
  co_return explain(context, options);
}

}  // namespace

void Parser::add_get() {
  CLI::App* app =
      command("get", "List jobs, pods and other objects.",
              "  muster get\n  muster get NAME -o yaml\n  muster get pods -A -o wide\n"
              "  muster get -w\n  muster get pods --sort-by=.metadata.creationTimestamp\n"
              "  muster get nodes\n  muster get pods -o "
              "custom-columns=NAME:.metadata.name,IP:.status.podIP");
  app->add_option("WHAT", get_.words,
                  "TYPE (default: jobs), TYPE NAME…, TYPE/NAME…, or NAMEs of jobs; TYPE is jobs, "
                  "pods, nodes, services, events, …, or several: pods,services");
  app->add_flag("-A,--all-namespaces", flags_.all_namespaces, "All namespaces");
  app->add_option("-l,--selector", get_.labels, "Label selector")->check(label_selector());
  app->add_option("--field-selector", get_.fields, "Field selector")->check(field_selector());
  app->add_option("-o,--output", get_.output,
                  "json, yaml, wide, name, jsonpath=TEMPLATE or custom-columns=TITLE:PATH,…")
      ->type_name("FORMAT")
      ->check([](const std::string& text) { return problem_of(parse_format(text)); });
  app->add_option("--sort-by", get_.sort_by, "By what this path finds: .metadata.name")
      ->type_name("PATH")
      ->check([](const std::string& text) { return problem_of(JsonPath::parse(text)); });
  app->add_flag("!--no-headers", get_.headers, "Tables without their first line");
  app->add_flag("-w,--watch", get_.watch, "Go on: print each as it changes; Ctrl-C ends it");
  app->callback([this] { verb_ = [this](Context& context) { return get(context, get_); }; });
}

void Parser::add_describe() {
  CLI::App* app =
      command("describe", "Tell all about jobs, pods, nodes and other objects; with their events.",
              "  muster describe NAME\n  muster describe pods/NAME\n  muster describe nodes");
  app->add_option("WHAT", describe_.words, "NAMEs of jobs, TYPE/NAME…, TYPE NAME…, or TYPE: all")
      ->required();
  app->add_option("-l,--selector", describe_.labels, "With a TYPE: label selector")
      ->check(label_selector());
  app->callback(
      [this] { verb_ = [this](Context& context) { return describe(context, describe_); }; });
}

void Parser::add_explain() {
  CLI::App* app =
      command("explain", "Say what stands in a field of a kind, and which fields it has.",
              "  muster explain pods.spec.containers\n"
              "  muster explain jobs.batch.spec.completionMode",
              {.home = false, .cluster = false, .ns = false, .verbosity = false});
  app->add_option("FIELD", explain_.field, "KIND, or KIND.FIELD.FIELD…")->required();
  app->callback([this] {
    verb_ = [this](Context& context) -> Task<int> { return print_explanation(context, explain_); };
  });
}

void Parser::add_logs() {
  CLI::App* app =
      command("logs", "Print the logs of all ranks, merged by time.",
              "  muster logs NAME\n  muster logs NAME -f --tail 20\n  muster logs NAME --failed\n"
              "  muster logs NAME --role Worker --rank 0,4-7 --since 5m\n  muster logs NAME@RUN",
              {.color = true});
  app->add_option("NAME", logs_.name,
                  "The job or pod; NAME@RUN: a past run, as muster history shows it")
      ->required();
  app->add_flag("-f,--follow", logs_.follow, "Go on as lines come; Ctrl-C detaches");
  app->add_flag("-p,--previous", logs_.previous, "Of the container before the last restart");
  app->add_flag("--timestamps", logs_.timestamps, "Show when each line was written");
  app->add_option("--tail", logs_.tail, "Only the last lines; -1: all")
      ->type_name("LINES")
      ->check(whole_number());
  CLI::Option* since = app->add_option_function<std::string>(
                              "--since",
                              [this](const std::string& text) {
                                logs_.since = valid("--since", parse_duration(text));
                              },
                              "Only what is newer: 30s, 5m, 1h")
                           ->type_name("DURATION");
  app->add_option_function<std::string>(
         "--since-time",
         [this](const std::string& text) {
           logs_.since_time = valid("--since-time", point_in_time(text));
         },
         "Only what is newer: 2026-11-15T03:04:05Z")
      ->type_name("TIME")
      ->excludes(since);
  app->add_flag("--failed", logs_.failed, "Only ranks that failed by themselves");
  app->add_option("--role", logs_.filter.role, "Only this role");
  app->add_option("--rank", ranks_, "Only these ranks: 0,4-7");
  app->add_option("-c,--container", logs_.container, "Only this container");
  app->add_flag("!--no-prefix", logs_.prefix, "Without the rank in front");
  app->callback([this] {
    if (!ranks_.empty()) {
      const auto ranks = parse_ranks(ranks_);
      if (!ranks)
        throw CLI::ValidationError("--rank",
                                   fmt::format("\"{}\" is not a list of ranks like 0,4-7", ranks_));
      logs_.filter.ranks = *ranks;
    }
    if (logs_.tail && *logs_.tail < 0) logs_.tail.reset();
    verb_ = [this](Context& context) { return logs(context, logs_); };
  });
}

void Parser::add_history() {
  CLI::App* app = command("history", "List past runs of this home, the newest first.",
                          "  muster history\n  muster history NAME\n  muster history -o json",
                          {.cluster = false});
  app->add_option("NAME", history_.name, "Only runs of this name: NAME, TYPE/NAME, NAME@RUN");
  app->add_flag("-A,--all-namespaces", flags_.all_namespaces, "All namespaces");
  app->add_option("-o,--output", history_.output, "json")->check(one_of({"json"}));
  app->callback(
      [this] { verb_ = [this](Context& context) { return history(context, history_); }; });
}

void Parser::add_top() {
  CLI::App* app = command("top", "Show what each rank uses now: CPU, memory, GPUs.",
                          "  muster top\n  muster top NAME\n  muster top NAME --once -o json");
  app->add_option("NAME", top_.name, "Only this job");
  app->add_flag("-A,--all-namespaces", flags_.all_namespaces, "All namespaces");
  app->add_flag("--once", top_.once, "Print once and end, as without a terminal");
  app->add_option("-o,--output", top_.output, "json: once, an array with an object a rank")
      ->check(one_of({"json"}));
  app->callback([this] { verb_ = [this](Context& context) { return top(context, top_); }; });
}

}  // namespace muster::cli
