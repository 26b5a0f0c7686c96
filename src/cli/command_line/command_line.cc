#include "cli/command_line/parser.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/strings.h"
#include "base/version.h"
#include "cli/cluster/capacity.h"

namespace muster::cli {
namespace {

// Examples come first: that is what people look for.
void examples(CLI::App* app, const std::string& text) {
  app->description("Examples:\n" + text + "\n\n" + app->get_description());
}

// As a shell would have to be given it.
std::string shell_word(const std::string& text) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=@,+~";
  if (text.find_first_not_of(kPlain) == std::string::npos) return text;
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

}  // namespace

Parser::Parser(Output& output, Flags& flags, Verb& verb)
    : output_(output), flags_(flags), verb_(verb) {
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
  add_history();
  add_exec();
  add_delete();
  add_wait();
  add_pause();
  add_resume();
  add_operator();
  add_node();
  add_version();
}

std::optional<int> Parser::parse(int argc, char** argv) {
  // CLI11 would only say that a subcommand is missing.
  const auto named = [&](const CLI::App* app) { return app->get_name() == argv[1]; };
  if (argc > 1 && argv[1][0] != '-' && app_.get_subcommands(named).empty()) {
    output_.note("error: no command \"{}\"\n  see: muster --help\n", printable(argv[1]));
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
    output_.note("error: {}\n", error.what());
    output_.note("  see: muster {}--help\n", used_verb());
    return exit_code::kUsage;
  }
  return std::nullopt;
}

bool Parser::names_exec(char** argv, int end) {
  return std::any_of(argv + 1, argv + end,
                     [](const char* word) { return std::string_view(word) == "exec"; });
}

std::string Parser::used_verb() const {
  for (const CLI::App* command : app_.get_subcommands()) return command->get_name() + " ";
  return "";
}

CLI::App* Parser::command(const std::string& name, const std::string& description,
                          const std::string& example_text) {
  CLI::App* app = app_.add_subcommand(name, description);
  examples(app, example_text);
  return app;
}

void Parser::add_common() {
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

void Parser::add_image_files(CLI::App* app) {
  app->add_option("--images", flags_.image_files,
                  "Further rows of images.yaml, looked at before the home's")
      ->type_name("FILE")
      ->allow_extra_args(false);
}

void Parser::add_agent_image(CLI::App* app) {
  app->add_option("--agent-image", flags_.agent_image,
                  "Image of muster-agent, which pods that start MPI ranks bring along")
      ->type_name("IMAGE")
      ->check([](const std::string& image) {
        return image.empty() ? std::string("must not be empty") : std::string();
      });
}

void Parser::add_node_flags(CLI::App* app) {
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

std::optional<int> parse(int argc, char** argv, Output& output, Flags& flags, Verb& verb) {
  // The verb's options live in the parser, so it lives as long as the verb.
  auto parser = std::make_shared<Parser>(output, flags, verb);
  const auto code = parser->parse(argc, argv);
  if (!code) {
    verb = [parser, chosen = std::move(verb)](Context& context) { return chosen(context); };
  }
  return code;
}

std::string where_words(const Flags& flags) {
  std::string words;
  const auto add = [&](std::string_view flag, const std::string& value) {
    if (!value.empty()) words += fmt::format(" {} {}", flag, shell_word(value));
  };
  add("--home", flags.home);
  add("--kubeconfig", flags.kubeconfig);
  add("--context", flags.kube_context);
  add("-n", flags.ns);
  return words;
}

}  // namespace muster::cli
