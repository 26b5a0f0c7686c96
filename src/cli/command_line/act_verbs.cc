#include "cli/command_line/parser.h"
#include "cli/verbs/verbs.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

// Verbs that act on what runs.
namespace muster::cli {

void Parser::add_exec() {
  CLI::App* app = command(
      "exec", "Run a command inside a running rank of a job, or inside a pod.",
      "  muster exec NAME -- nvidia-smi\n  muster exec NAME --role Worker --rank 3 -- bash\n"
      "  muster exec pods NAME -c main -- env");
  app->add_option("WHAT", exec_words_, "NAME of a job, or pods NAME")->required()->expected(1, 2);
  app->add_option("--role", exec_.role, "The role (default: the first one that runs)");
  app->add_option("--rank", exec_.rank, "The rank within the role (default: 0)")
      ->check(CLI::NonNegativeNumber);
  app->add_option("-c,--container", exec_.container, "The container (default: the main one)");
  app->add_flag("-i,--stdin", exec_.input, "Pass on our standard input");
  app->add_flag("-t,--tty", exec_.terminal,
                "Give it a terminal; -it is assumed where we have one on both ends");
  app->callback([this] {
    if (exec_.command.empty())
      throw CLI::RequiredError("-- and the command: muster exec NAME -- COMMAND…");
    exec_.name = exec_words_.back();
    if (exec_words_.size() == 2) exec_.resource = exec_words_.front();
    verb_ = [this](Context& context) { return exec(context, exec_); };
  });
}

void Parser::add_delete() {
  CLI::App* app =
      command("delete", "Delete jobs (or other objects) and wait until nothing of them runs.",
              "  muster delete NAME\n  muster delete -f job.yaml\n  muster delete pods NAME");
  app->add_option("WHAT", delete_words_, "NAMEs of jobs, or RESOURCE NAME…");
  app->add_option("-f,--filename", delete_.files, "Delete what a manifest names");
  app->add_option("--grace-period", delete_.grace_seconds, "Seconds to stop in");
  app->add_flag("!--no-wait", delete_.wait, "Do not wait");
  app->callback([this] {
    if (delete_words_.empty() && delete_.files.empty())
      throw CLI::RequiredError("NAME of a job, or -f FILE,");
    delete_.words = delete_words_;
    verb_ = [this](Context& context) { return remove(context, delete_); };
  });
}

void Parser::add_wait() {
  CLI::App* app =
      command("wait", "Wait for a job; ends with the job's exit code when it is finished.",
              "  muster wait NAME\n  muster wait NAME --for=running --timeout 60");
  app->add_option("NAME", wait_.name, "The job")->required();
  app->add_option("--for", wait_.condition,
                  "finished (default), running, delete or condition=TYPE");
  app->add_option("--timeout", wait_.timeout_seconds, "Seconds; afterwards exit 124");
  app->callback([this] { verb_ = [this](Context& context) { return wait(context, wait_); }; });
}

void Parser::add_pause() {
  CLI::App* app = command(
      "pause", "Suspend a job and wait until nothing of it runs; it keeps its place and name.",
      "  muster pause NAME\n  muster pause NAME --no-wait");
  app->add_option("NAME", pause_.name, "The job")->required();
  app->add_flag("!--no-wait", pause_.wait, "Do not wait");
  app->callback([this] { verb_ = [this](Context& context) { return pause(context, pause_); }; });
}

void Parser::add_resume() {
  CLI::App* app = command("resume", "Let a suspended job go on: all its pods are made anew.",
                          "  muster resume NAME");
  app->add_option("NAME", resume_.name, "The job")->required();
  app->callback([this] { verb_ = [this](Context& context) { return resume(context, resume_); }; });
}

}  // namespace muster::cli
