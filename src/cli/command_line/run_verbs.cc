#include "cli/command_line/parser.h"
#include "cli/verbs/verbs.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

// Verbs that run jobs.
namespace muster::cli {

void Parser::add_run() {
  CLI::App* app = command(
      "run", "Run the jobs of a manifest, attached: logs of all ranks, the job's exit code.",
      "  muster run job.yaml\n  muster run -f job.yaml --dry-run=client -o yaml\n"
      "  muster run job.yaml --kubeconfig ~/.kube/config",
      {.color = true});
  app->add_option("FILE", run_.files, "Manifest files; - is standard input");
  app->add_option("-f,--filename", run_named_, "The same, kubectl's way");
  add_node_flags(app);
  add_agent_image(app);
  app->add_option("--dry-run", dry_run_, "client: print the planned children and create nothing")
      ->expected(0, 1)
      ->default_str("client")
      ->check(CLI::IsMember({"client", "none"}));
  app->add_option("-o,--output", run_.output, "Of a dry run: yaml or json")
      ->check(CLI::IsMember({"yaml", "json"}));
  app->callback([this, app] {
    run_.files.insert(run_.files.end(), run_named_.begin(), run_named_.end());
    if (run_.files.empty()) throw CLI::RequiredError("FILE (a manifest, or - for standard input)");
    run_.dry_run = app->count("--dry-run") > 0 && dry_run_ != "none";
    verb_ = [this](Context& context) { return run(context, run_); };
  });
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
      ->check(CLI::Range(1, 65535));
  app->callback([this] {
    flags_.long_running = true;
    verb_ = [this](Context& context) { return up(context, up_); };
  });
}

}  // namespace muster::cli
