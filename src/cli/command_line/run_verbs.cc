#include "cli/command_line/parser.h"
#include "cli/command_line/values.h"
#include "cli/verbs/verbs.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

// Verbs that run jobs.
namespace muster::cli {

void Parser::add_run() {
  CLI::App* app = command(
      "run", "Run the jobs of a manifest, attached: logs of all ranks, the job's exit code.",
      "  muster run job.yaml\n  muster run -f job.yaml --dry-run=client -o yaml\n"
      "  muster run job.yaml --set spec.runPolicy.backoffLimit=3 --mount out\n"
      "  muster run job.yaml --kubeconfig ~/.kube/config",
      {.color = true});
  app->add_option("FILE", run_.files, "Manifest files or directories of them; - is standard input");
  app->add_option("-f,--filename", run_named_, "The same, kubectl's way");
  add_node_flags(app);
  add_agent_image(app);
  app->add_option("--dry-run", dry_run_, "client: print the planned children and create nothing")
      ->expected(0, 1)
      ->default_str("client")
      ->check(one_of({"client", "none"}));
  app->add_option(
         "-o,--output", run_.output,
         "json: how it ended as one object on standard output, all else on standard error; "
         "of a dry run: yaml or json")
      ->check(one_of({"yaml", "json"}));
  add_submission(app);
  app->add_flag("-d,--detach", run_.detach, "Do not wait for the end; muster attach follows it");
  app->add_flag("--rm", run_.remove, "Delete what was created once it has ended; logs are kept");
  app->add_option("--report", run_.report, "Write how it ended, as -o json prints it, to a file")
      ->type_name("FILE");
  app->add_option("--junit", run_.junit, "The same for readers of JUnit's XML")->type_name("FILE");
  app->callback([this, app] {
    run_.files.insert(run_.files.end(), run_named_.begin(), run_named_.end());
    if (run_.files.empty()) throw CLI::RequiredError("FILE (a manifest, or - for standard input)");
    if (const auto validation = parse_validation(validate_)) {
      run_.submission.validation = *validation;
    }
    run_.dry_run = app->count("--dry-run") > 0 && dry_run_ != "none";
    if (run_.output == "yaml" && !run_.dry_run)
      throw CLI::ValidationError("-o", "yaml is for --dry-run; how a run ended is json");
    if (run_.detach && run_.remove)
      throw CLI::ValidationError("--rm", "deletes at the end, which --detach does not wait for");
    verb_ = [this](Context& context) { return run(context, run_); };
  });
}

// How run takes its manifests.
void Parser::add_submission(CLI::App* app) {
  app->add_option("--set", run_.submission.set,
                  "Change a field of the jobs that have it: spec.runPolicy.backoffLimit=3")
      ->type_name("PATH=VALUE")
      ->check(with_name("PATH=VALUE, as in spec.runPolicy.backoffLimit=3", WithValue::Always))
      ->allow_extra_args(false);
  app->add_option("--env", run_.submission.env,
                  "A variable for all containers; without a value, ours")
      ->type_name("NAME[=VALUE]")
      ->check(with_name("NAME=VALUE or NAME", WithValue::Maybe))
      ->allow_extra_args(false);
  app->add_option("--mount", run_.submission.mounts,
                  "A directory of this machine for all containers; what is written there is kept")
      ->type_name("DIR[:PATH][:ro]")
      ->allow_extra_args(false);
  app->add_option("--validate", validate_,
                  "Of fields that nobody knows: strict refuses them, warn says so, ignore does not")
      ->check(one_of({"strict", "warn", "ignore", "true", "false"}));
}

void Parser::add_attach() {
  CLI::App* app = command("attach", "Follow a job or pod to its end, as run does.",
                          "  muster attach bert\n  muster attach pods/probe", {.color = true});
  app->add_option("NAME", attach_.words, "Name of the job or pod, or TYPE/NAME")->required();
  app->callback([this] { verb_ = [this](Context& context) { return attach(context, attach_); }; });
}

void Parser::add_up() {
  CLI::App* app =
      command("up",
              "Keep the embedded control plane running: serves its API on a UNIX socket, and for "
              "kubectl on a port of this machine.",
              "  muster up\n  muster up --home /data/muster\n"
              "  kubectl --kubeconfig ~/.muster/kubeconfig get pods",
              {.cluster = false, .ns = false});
  add_node_flags(app);
  add_agent_image(app);
  app->add_option("--api-port", up_.api_port,
                  "Port on 127.0.0.1 for kubectl, with TLS and tokens (default: as last time)")
      ->check(whole_number(1, 65535));
  add_log_format(app);
  app->callback([this] {
    flags_.long_running = true;
    verb_ = [this](Context& context) { return up(context, up_); };
  });
}

// The same without a terminal, for commands that find none: only they start it.
void Parser::add_plane() {
  CLI::App* app =
      command("plane", "Run the embedded control plane for the commands that need it now.", "");
  app->group("");
  add_node_flags(app);
  add_agent_image(app);
  app->callback([this] {
    flags_.long_running = true;
    verb_ = [](Context& context) { return plane(context); };
  });
}

}  // namespace muster::cli
