#include "cli/command_line/parser.h"
#include "cli/command_line/values.h"
#include "cli/jobs/duration.h"
#include "cli/objects/goal.h"
#include "cli/verbs/verbs.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

// Verbs that act on what runs.
namespace muster::cli {

void Parser::add_exec() {
  CLI::App* app = command(
      "exec", "Run a command inside a running rank of a job, or inside a pod.",
      "  muster exec NAME -- nvidia-smi\n  muster exec NAME --role Worker --rank 3 -- bash\n"
      "  muster exec pods/NAME -c main -- env");
  notes_.at("exec").behind = " -- COMMAND…";
  app->add_option("NAME", exec_.words, "NAME or TYPE/NAME of a job or a pod")->required();
  app->add_option("--role", exec_.role, "The role (default: the first one that runs)");
  app->add_option("--rank", exec_.rank, "The rank within the role (default: 0)")
      ->check(whole_number(0));
  app->add_option("-c,--container", exec_.container, "The container (default: the main one)");
  app->add_flag("-i,--stdin", exec_.input, "Pass on our standard input");
  app->add_flag("-t,--tty", exec_.terminal,
                "Give it a terminal; -it is assumed where we have one on both ends");
  app->callback([this] {
    if (exec_.command.empty())
      throw CLI::ParseError("what should run comes behind --: muster exec NAME -- COMMAND…",
                            CLI::ExitCodes::RequiredError);
    if (exec_.words.size() > 2)
      throw CLI::ParseError(
          "one job or pod is wanted, as NAME, TYPE/NAME or TYPE NAME; the command comes behind --",
          CLI::ExitCodes::ArgumentMismatch);
    verb_ = [this](Context& context) { return exec(context, exec_); };
  });
}

void Parser::add_delete() {
  CLI::App* app =
      command("delete", "Delete jobs (or other objects) and wait until nothing of them runs.",
              "  muster delete NAME\n  muster delete -f job.yaml\n  muster delete pods/NAME\n"
              "  muster delete jobs -l team=vision\n  muster delete pods --all");
  app->add_option("WHAT", delete_.words,
                  "NAMEs of jobs, TYPE/NAME…, TYPE NAME…; with --all or -l TYPE (default: jobs)");
  app->add_option("-f,--filename", delete_.files, "Delete what a manifest names");
  app->add_option("-l,--selector", delete_.labels, "Everything with these labels")
      ->check(label_selector());
  app->add_flag("--all", delete_.all, "Everything of that type in the namespace");
  app->add_flag("-A,--all-namespaces", flags_.all_namespaces, "With --all or -l: everywhere");
  app->add_flag("--ignore-not-found", delete_.ignore_not_found, "What is not there is no error");
  app->add_option("--grace-period", delete_.grace_seconds,
                  "Seconds to stop in; -1: as each pod says (default)")
      ->check(whole_number(-1));
  app->add_flag("--wait,!--no-wait", delete_.wait, "Wait until it is gone (default)");
  app->callback([this] {
    const bool selects = delete_.all || !delete_.labels.empty();
    if (delete_.words.empty() && delete_.files.empty() && !selects)
      throw CLI::RequiredError("NAME of a job, -f FILE, -l or --all");
    if (delete_.grace_seconds && *delete_.grace_seconds < 0) delete_.grace_seconds.reset();
    verb_ = [this](Context& context) { return remove(context, delete_); };
  });
}

void Parser::add_wait() {
  CLI::App* app =
      command("wait", "Wait for jobs and pods; ends with the exit code of what has finished.",
              "  muster wait NAME\n  muster wait NAME --for=running --timeout 1m\n"
              "  muster wait pods/NAME --for=condition=Ready\n"
              "  muster wait NAME NAME --for=delete");
  app->add_option("NAME", wait_.words, "NAME or TYPE/NAME of a job or anything else")->required();
  app->add_option("--for", wait_.condition,
                  "finished (default), running, delete, condition=TYPE[=STATUS] or "
                  "jsonpath=PATH[=VALUE]")
      ->type_name("GOAL")
      ->check([](const std::string& text) { return problem_of(Goal::parse(text)); });
  app->add_option_function<std::string>(
      "--timeout",
      [this](const std::string& text) { wait_.timeout = valid("--timeout", parse_duration(text)); },
      "How long: 30s, 2m, 1h30m, or seconds; afterwards exit 124");
  app->callback([this] { verb_ = [this](Context& context) { return wait(context, wait_); }; });
}

void Parser::add_pause() {
  CLI::App* app =
      command("pause", "Suspend jobs and wait until nothing of them runs; they keep their names.",
              "  muster pause NAME\n  muster pause NAME --no-wait");
  app->add_option("NAME", pause_.words, "NAME or TYPE/NAME of a job")->required();
  app->add_flag("--wait,!--no-wait", pause_.wait, "Wait until nothing of it runs (default)");
  app->callback([this] { verb_ = [this](Context& context) { return pause(context, pause_); }; });
}

void Parser::add_resume() {
  CLI::App* app = command("resume", "Let suspended jobs go on: all their pods are made anew.",
                          "  muster resume NAME");
  app->add_option("NAME", resume_.words, "NAME or TYPE/NAME of a job")->required();
  app->callback([this] { verb_ = [this](Context& context) { return resume(context, resume_); }; });
}

}  // namespace muster::cli
