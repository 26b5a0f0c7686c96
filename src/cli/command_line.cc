#include "cli/command_line.h"

#include <algorithm>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "base/strings.h"
#include "base/version.h"
#include "cli/cluster/capacity.h"
#include "cli/verbs/verbs.h"

namespace muster::cli {
namespace {

constexpr auto kOutputs = {"json", "yaml", "wide", "name"};

// Examples come first: that is what people look for.
void examples(CLI::App* app, const std::string& text) {
  app->description("Examples:\n" + text + "\n\n" + app->get_description());
}

class Parser {
 public:
  Parser(Flags& flags, Verb& verb) : flags_(flags), verb_(verb) {
    app_.name("muster");
    app_.require_subcommand(1);
    app_.fallthrough();
    app_.set_version_flag("--version", fmt::format("muster {}", kVersion));
    app_.footer("Help for a command: muster COMMAND --help");
    app_.description(
        "Examples:\n"
        "  muster run job.yaml               run a training job on this machine\n"
        "  muster get                        list jobs\n"
        "  muster logs NAME -f               follow all ranks\n"
        "  muster operator --kubeconfig F    run the operator for a Kubernetes cluster\n\n"
        "Runs distributed training jobs on this machine or on Kubernetes, from the same "
        "manifests.");
    add_common();
    add_run();
    add_up();
    add_images();
    add_get();
    add_describe();
    add_logs();
    add_exec();
    add_delete();
    add_wait();
    add_pause();
    add_resume();
    add_operator();
    add_node();
    add_version();
  }

  std::optional<int> parse(int argc, char** argv) {
    // CLI11 would only say that a subcommand is missing.
    const auto named = [&](const CLI::App* app) { return app->get_name() == argv[1]; };
    if (argc > 1 && argv[1][0] != '-' && app_.get_subcommands(named).empty()) {
      fmt::print(stderr, "error: no command \"{}\"\n  see: muster --help\n", printable(argv[1]));
      return exit_code::kUsage;
    }
    // What follows -- is somebody else's command line.
    for (int i = 1; i < argc; ++i) {
      if (std::string_view(argv[i]) != "--" || !names_exec(argv, i)) continue;
      exec_.command.assign(argv + i + 1, argv + argc);
      argc = i;
    }
    try {
      app_.parse(argc, argv);
    } catch (const CLI::Success& help) {
      return app_.exit(help);
    } catch (const CLI::ParseError& error) {
      fmt::print(stderr, "error: {}\n", error.what());
      fmt::print(stderr, "  see: muster {}--help\n", used_verb());
      return exit_code::kUsage;
    }
    return std::nullopt;
  }

 private:
  static bool names_exec(char** argv, int end) {
    return std::any_of(argv + 1, argv + end,
                       [](const char* word) { return std::string_view(word) == "exec"; });
  }

  std::string used_verb() const {
    for (const CLI::App* command : app_.get_subcommands()) return command->get_name() + " ";
    return "";
  }

  void add_common() {
    app_.add_option("--home", flags_.home,
                    "Directory of the embedded control plane (default $MUSTER_HOME, ~/.muster)");
    app_.add_option("--kubeconfig", flags_.kubeconfig,
                    "Talk to a Kubernetes cluster: its kubeconfig file");
    app_.add_option("--context", flags_.kube_context,
                    "Talk to a Kubernetes cluster: the kubeconfig context");
    app_.add_flag("--insecure-skip-tls-verify", flags_.insecure,
                  "Allow a kubeconfig that skips certificate checks");
    app_.add_option("-n,--namespace", flags_.ns, "Namespace");
    app_.add_option("--color", flags_.color, "auto, always or never")
        ->check(CLI::IsMember({"auto", "always", "never"}));
    app_.add_flag("-v", flags_.verbosity, "More diagnostics on stderr; twice for debugging");
  }

  CLI::App* command(const std::string& name, const std::string& description,
                    const std::string& example_text) {
    CLI::App* app = app_.add_subcommand(name, description);
    examples(app, example_text);
    return app;
  }

  void add_image_files(CLI::App* app) {
    app->add_option("--images", flags_.image_files,
                    "Further rows of images.yaml, looked at before the home's")
        ->type_name("FILE")
        ->allow_extra_args(false);
  }

  // For commands that run jobs.
  void add_agent_image(CLI::App* app) {
    app->add_option("--agent-image", flags_.agent_image,
                    "Image of muster-agent, which pods that start MPI ranks bring along")
        ->type_name("IMAGE")
        ->check([](const std::string& image) {
          return image.empty() ? std::string("must not be empty") : std::string();
        });
  }

  // For commands that make this machine a node.
  void add_node_flags(CLI::App* app) {
    add_image_files(app);
    app->add_option_function<std::vector<std::string>>(
           "--capacity",
           [this](const std::vector<std::string>& texts) {
             for (const std::string& text : texts) {
               const auto parsed = parse_capacity(text);
               if (!parsed) throw CLI::ValidationError("--capacity", parsed.error().message);
               flags_.capacity.insert_or_assign(parsed->first, parsed->second);
             }
           },
           "Offer a resource that this machine does not have, for tests: nvidia.com/gpu=4")
        ->type_name("RESOURCE=N")
        ->allow_extra_args(false);
  }

  void add_run() {
    CLI::App* app = command(
        "run", "Run the jobs of a manifest, attached: logs of all ranks, the job's exit code.",
        "  muster run job.yaml\n  muster run -f job.yaml --dry-run=client -o yaml\n"
        "  muster run job.yaml --kubeconfig ~/.kube/config");
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
      if (run_.files.empty())
        throw CLI::RequiredError("FILE (a manifest, or - for standard input)");
      run_.dry_run = app->count("--dry-run") > 0 && dry_run_ != "none";
      verb_ = [this](Context& context) { return run(context, run_); };
    });
  }

  void add_up() {
    CLI::App* app =
        command("up", "Keep the embedded control plane running and serve its API on a UNIX socket.",
                "  muster up\n  muster up --home /data/muster\n"
                "  kubectl --kubeconfig ~/.muster/kubeconfig get pods");
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

  static Task<int> print_images(Context& context, ImagesOptions options) {
    co_return images(context, options);
  }

  void add_images() {
    CLI::App* app = command(
        "images", "List the rows of images.yaml, or say which row each image of a manifest has.",
        "  muster images\n  muster images -f job.yaml --images rows.yaml");
    app->add_option("-f,--filename", images_.files, "Manifest files; - is standard input");
    add_image_files(app);
    app->callback(
        [this] { verb_ = [this](Context& context) { return print_images(context, images_); }; });
  }

  void add_get() {
    CLI::App* app =
        command("get", "List jobs, pods and other objects.",
                "  muster get\n  muster get pods -A -o wide\n  muster get jobs NAME -o yaml");
    app->add_option("RESOURCE", get_.resource, "jobs (default), pods, services, events, nodes, …");
    app->add_option("NAME", get_.names, "Only these");
    app->add_flag("-A,--all-namespaces", flags_.all_namespaces, "All namespaces");
    app->add_option("-l,--selector", get_.labels, "Label selector");
    app->add_option("-o,--output", get_.output, "json, yaml, wide or name")
        ->check(CLI::IsMember(kOutputs));
    app->callback([this] { verb_ = [this](Context& context) { return get(context, get_); }; });
  }

  void add_describe() {
    CLI::App* app = command("describe", "Show a job with its pods and events.",
                            "  muster describe NAME\n  muster describe pods NAME");
    app->add_option("WHAT", describe_words_, "NAME of a job, or RESOURCE NAME")
        ->required()
        ->expected(1, 2);
    app->callback([this] {
      describe_.name = describe_words_.back();
      if (describe_words_.size() == 2) describe_.resource = describe_words_.front();
      verb_ = [this](Context& context) { return describe(context, describe_); };
    });
  }

  void add_logs() {
    CLI::App* app = command(
        "logs", "Print the logs of all ranks, merged by time.",
        "  muster logs NAME\n  muster logs NAME -f\n  muster logs NAME --role Worker --rank 0,4-7");
    app->add_option("NAME", logs_.name, "The job")->required();
    app->add_flag("-f,--follow", logs_.follow, "Go on as lines come; Ctrl-C detaches");
    app->add_flag("-p,--previous", logs_.previous, "Of the container before the last restart");
    app->add_flag("--timestamps", logs_.timestamps, "Show when each line was written");
    app->add_option("--tail", logs_.tail, "Only the last lines");
    app->add_option("--role", logs_.filter.role, "Only this role");
    app->add_option("--rank", ranks_, "Only these ranks: 0,4-7");
    app->add_flag("!--no-prefix", logs_.prefix, "Without the rank in front");
    app->callback([this] {
      if (!ranks_.empty()) {
        const auto ranks = parse_ranks(ranks_);
        if (!ranks)
          throw CLI::ValidationError(
              "--rank", fmt::format("\"{}\" is not a list of ranks like 0,4-7", ranks_));
        logs_.filter.ranks = *ranks;
      }
      verb_ = [this](Context& context) { return logs(context, logs_); };
    });
  }

  void add_exec() {
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

  void add_delete() {
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

  void add_wait() {
    CLI::App* app =
        command("wait", "Wait for a job; ends with the job's exit code when it is finished.",
                "  muster wait NAME\n  muster wait NAME --for=running --timeout 60");
    app->add_option("NAME", wait_.name, "The job")->required();
    app->add_option("--for", wait_.condition,
                    "finished (default), running, delete or condition=TYPE");
    app->add_option("--timeout", wait_.timeout_seconds, "Seconds; afterwards exit 124");
    app->callback([this] { verb_ = [this](Context& context) { return wait(context, wait_); }; });
  }

  void add_pause() {
    CLI::App* app = command(
        "pause", "Suspend a job and wait until nothing of it runs; it keeps its place and name.",
        "  muster pause NAME\n  muster pause NAME --no-wait");
    app->add_option("NAME", pause_.name, "The job")->required();
    app->add_flag("!--no-wait", pause_.wait, "Do not wait");
    app->callback([this] { verb_ = [this](Context& context) { return pause(context, pause_); }; });
  }

  void add_resume() {
    CLI::App* app = command("resume", "Let a suspended job go on: all its pods are made anew.",
                            "  muster resume NAME");
    app->add_option("NAME", resume_.name, "The job")->required();
    app->callback(
        [this] { verb_ = [this](Context& context) { return resume(context, resume_); }; });
  }

  void add_operator() {
    CLI::App* app = command("operator", "Run jobs on a Kubernetes cluster, as its operator.",
                            "  muster operator --kubeconfig ~/.kube/config\n  muster operator "
                            "--namespace ml --leader-elect");
    app->add_option("--kinds", operator_.kinds,
                    "Only these, like trainjobs,otherjobs.example.org (default: all)")
        ->delimiter(',');
    add_agent_image(app);
    app->add_flag("--leader-elect", operator_.leader_elect,
                  "Only one of several operators acts at a time");
    app->add_flag("--take-over", operator_.take_over,
                  "Run although another operator for the same kind holds its lease");
    app->add_option("--lease-namespace", operator_.lease_namespace, "Where our lease lives");
    app->add_option("--metrics-bind-address", operator_.metrics_address,
                    "Serves /metrics; 0 switches it off");
    app->add_option("--health-probe-bind-address", operator_.health_address,
                    "Serves /healthz and /readyz; 0 switches it off");
    app->callback([this] {
      flags_.long_running = true;
      verb_ = [this](Context& context) {
        operator_.ns = context.ns;
        return run_operator(context, operator_);
      };
    });
  }

  void add_node() {
    CLI::App* app = command(
        "node", "Be a node of a Kubernetes cluster: run its pods as processes of this machine.",
        "  muster node --kubeconfig ~/.kube/config --name box1");
    app->add_option("--name", node_.name, "The node's name")->required();
    add_node_flags(app);
    app->add_option("--address", node_.address, "Where logs and exec are served");
    app->add_option("--client-ca", node_.client_ca,
                    "PEM file of the CA of our clients; without it logs and exec are not served");
    app->add_option("--pod-cidr", node_.pod_range, "Addresses for pods");
    app->add_option("--service-cidr", node_.service_range, "The cluster's service range");
    app->callback([this] {
      flags_.long_running = true;
      verb_ = [this](Context& context) { return node(context, node_); };
    });
  }

  static Task<int> print_version(std::string output) { co_return version(output); }

  void add_version() {
    CLI::App* app =
        command("version", "Print the version.", "  muster version\n  muster version -o json");
    app->add_option("-o,--output", version_output_, "json")->check(CLI::IsMember({"json"}));
    app->callback([this] { verb_ = [this](Context&) { return print_version(version_output_); }; });
  }

  CLI::App app_;
  Flags& flags_;
  Verb& verb_;
  RunOptions run_;
  std::vector<std::string> run_named_;
  std::string dry_run_ = "client";
  ImagesOptions images_;
  UpOptions up_;
  GetOptions get_;
  DescribeOptions describe_;
  std::vector<std::string> describe_words_;
  LogsOptions logs_;
  std::string ranks_;
  ExecVerbOptions exec_;
  std::vector<std::string> exec_words_;
  DeleteOptions delete_;
  std::vector<std::string> delete_words_;
  WaitOptions wait_;
  PauseOptions pause_;
  ResumeOptions resume_;
  OperatorOptions operator_;
  NodeVerbOptions node_;
  std::string version_output_;
};

}  // namespace

std::optional<int> parse(int argc, char** argv, Flags& flags, Verb& verb) {
  // The verb's options live in the parser, so it lives as long as the verb.
  auto parser = std::make_shared<Parser>(flags, verb);
  const auto code = parser->parse(argc, argv);
  if (!code) {
    verb = [parser, chosen = std::move(verb)](Context& context) { return chosen(context); };
  }
  return code;
}

}  // namespace muster::cli
