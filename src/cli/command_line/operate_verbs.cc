#include "cli/cluster/bind_address.h"
#include "cli/command_line/parser.h"
#include "cli/command_line/values.h"
#include "cli/verbs/verbs.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

// Verbs for those who operate clusters and this machine.
namespace muster::cli {
namespace {

Task<int> print_images(Context& context, ImagesOptions options) {
  co_return images(context, options);
}

std::string address_problem(const std::string& text) {
  return problem_of(parse_bind_address(text));
}

std::string taint_problem(const std::string& text) {
  return text.empty() ? "" : problem_of(node::parse_taint(text));
}

}  // namespace

void Parser::add_operator() {
  CLI::App* app = command("operator", "Run jobs on a Kubernetes cluster, as its operator.",
                          "  muster operator --kubeconfig ~/.kube/config\n  muster operator "
                          "--namespace ml --leader-elect",
                          {.home = false});
  app->add_option("--kinds", operator_.kinds,
                  "Only these, like trainjobs,otherjobs.example.org (default: all)")
      ->delimiter(',');
  add_agent_image(app);
  app->add_flag("--leader-elect", operator_.leader_elect,
                "Only one of several operators acts at a time");
  app->add_flag("--take-over", operator_.take_over,
                "Run although another operator for the same kind holds its lease, and go on with "
                "the jobs that it began");
  app->add_option("--lease-namespace", operator_.lease_namespace, "Where our lease lives");
  app->add_option("--metrics-bind-address", operator_.metrics_address,
                  "Serves /metrics; 0 switches it off")
      ->check(address_problem);
  app->add_option("--health-probe-bind-address", operator_.health_address,
                  "Serves /healthz and /readyz; 0 switches it off")
      ->check(address_problem);
  add_log_format(app);
  app->callback([this] {
    flags_.long_running = true;
    verb_ = [this](Context& context) {
      operator_.ns = context.ns;
      return run_operator(context, operator_);
    };
  });
}

void Parser::add_node() {
  CLI::App* app = command(
      "node", "Be a node of a Kubernetes cluster: run its pods as processes of this machine.",
      "  muster node --kubeconfig ~/.kube/config --name box1", {.ns = false});
  app->add_option("--name", node_.name, "The node's name")->required()->check(dns_subdomain());
  add_node_flags(app);
  app->add_option("--address", node_.address, "Where logs and exec are served");
  app->add_option("--client-ca", node_.client_ca,
                  "PEM file of the CA of our clients; without it logs and exec are not served")
      ->type_name("FILE");
  app->add_option("--pod-cidr", node_.pod_range,
                  "Addresses for pods (default: what the cluster gives this node)");
  app->add_option("--taint", node_.taint,
                  "What pods must tolerate to come here, KEY[=VALUE]:EFFECT; '' for nothing. Given "
                  "to a new node; one that exists keeps its own")
      ->check(taint_problem)
      ->capture_default_str();
  app->add_option("--service-cidr", node_.service_range, "The cluster's service range");
  add_log_format(app);
  app->callback([this] {
    flags_.long_running = true;
    verb_ = [this](Context& context) { return node(context, node_); };
  });
}

void Parser::add_doctor() {
  CLI::App* app =
      command("doctor",
              "Check whether jobs can run here, or on a cluster: a line for each check, with the "
              "remedy for what is missing.",
              "  sudo muster doctor\n  muster doctor --kubeconfig ~/.kube/config -n ml");
  app->add_option("-o,--output", doctor_.output, "json")->check(one_of({"json"}));
  app->callback([this] { verb_ = [this](Context& context) { return doctor(context, doctor_); }; });
}

void Parser::add_images() {
  CLI::App* app = command(
      "images",
      "List what image names mean on this machine: the rows of images.yaml, or which of them each "
      "image of a manifest has.",
      "  muster images\n  muster images -f job.yaml --images rows.yaml",
      {.cluster = false, .ns = false});
  app->add_option("-f,--filename", images_.files, "Manifest files; - is standard input");
  add_image_files(app);
  app->callback(
      [this] { verb_ = [this](Context& context) { return print_images(context, images_); }; });
}

}  // namespace muster::cli
