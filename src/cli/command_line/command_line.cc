#include "cli/command_line/parser.h"

#include <algorithm>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "base/strings.h"
#include "base/version.h"
#include "cli/cluster/capacity.h"
#include "cli/command_line/declared.h"
#include "cli/command_line/shell_words.h"
#include "cli/command_line/values.h"

namespace muster::cli {

Parser::Parser(Output& output, Flags& flags, Verb& verb)
    : app_(std::make_unique<CLI::App>()), output_(output), flags_(flags), verb_(verb) {
  app_->name("muster");
  app_->description(
      "Runs distributed training jobs on this machine or on Kubernetes, from the same manifests.");
  app_->set_help_flag("-h,--help", "Print help");
  app_->set_version_flag("--version", fmt::format("muster {}", kVersion), "Print the version");
  app_->fallthrough();
  add_common();
  group_ = "Run";
  add_run();
  add_attach();
  add_up();
  add_plane();
  add_images();
  add_explain();
  group_ = "Look";
  add_get();
  add_describe();
  add_logs();
  add_history();
  add_top();
  group_ = "Act";
  add_exec();
  add_delete();
  add_wait();
  add_pause();
  add_resume();
  group_ = "Operate";
  add_operator();
  add_node();
  add_doctor();
  group_ = "About muster";
  add_completion();
  add_help();
  add_version();
}

Parser::~Parser() = default;

std::optional<int> Parser::parse(int argc, char** argv) {
  const std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
  // The words of a line that is still being written cannot be parsed.
  if (!words.empty() && words.front() == "__complete") {
    verb_ = [wanted = completing_at(*app_, {words.begin() + 1, words.end()}, flags_)](
                Context& context) { return complete(context, wanted); };
    return std::nullopt;
  }
  const std::size_t verb_at = find_command(*app_, words);
  // CLI11 would only say that something was not expected.
  if (verb_at < words.size() && command_named(*app_, words[verb_at]) == nullptr)
    return refuse_verb(words[verb_at]);
  // A job may be called as a command is.
  const auto is_another = [&](CLI::App* command) {
    return verb_at < words.size() && command->get_name() != words[verb_at];
  };
  for (CLI::App* other : app_->get_subcommands(is_another)) other->disabled();
  // What follows -- is somebody else's command line.
  if (verb_at < words.size() && words[verb_at] == "exec") {
    const auto dashes = std::ranges::find(words, "--");
    if (dashes != words.end()) exec_.command.assign(dashes + 1, words.end());
    argc = 1 + static_cast<int>(dashes - words.begin());
  }
  try {
    app_->parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    output_.write(help_text(page(used_verb())));
    return exit_code::kOk;
  } catch (const CLI::CallForVersion& version) {
    output_.print("{}\n", version.what());
    return exit_code::kOk;
  } catch (const CLI::ExtrasError&) {
    return refuse_extra(used_verb() == nullptr ? *app_ : *used_verb());
  } catch (const CLI::ArgumentMismatch& error) {
    return refuse(mismatch_of(used_verb() == nullptr ? *app_ : *used_verb(), error));
  } catch (const CLI::ConversionError& error) {
    return refuse(conversion_of(error));
  } catch (const CLI::ParseError& error) {
    return refuse(error.what());
  }
  if (used_verb() == nullptr) {
    output_.write(help_text(page(nullptr)));
    return exit_code::kOk;
  }
  const Obeyed& obeyed = notes_of(used_verb()).obeyed;
  flags_.either_place =
      obeyed.home && obeyed.cluster && !flags_.long_running && !used_verb()->get_group().empty();
  return std::nullopt;
}

int Parser::refuse(const std::string& problem) const {
  output_.note("error: {}\n  see: muster help{}\n", printable(problem),
               used_verb() == nullptr ? "" : " " + used_verb()->get_name());
  return exit_code::kUsage;
}

const CLI::App* Parser::used_verb() const {
  const auto used = app_->get_subcommands();
  return used.empty() ? nullptr : used.front();
}

CLI::App* Parser::command(const std::string& name, const std::string& description,
                          const std::string& example_text, Obeyed obeyed) {
  CLI::App* app = app_->add_subcommand(name, description);
  app->group(group_);
  Notes notes{.examples = {}, .obeyed = obeyed};
  for (const auto line : split(example_text, '\n')) notes.examples.emplace_back(trim(line));
  notes_.emplace(name, std::move(notes));
  return app;
}

const Parser::Notes& Parser::notes_of(const CLI::App* command) const {
  return notes_.at(command->get_name());
}

void Parser::add_common() {
  app_->add_option("--home", flags_.home,
                   "Directory of the embedded control plane (default $MUSTER_HOME, ~/.muster)")
      ->type_name("DIR");
  app_->add_option("--kubeconfig", flags_.kubeconfig,
                   "Talk to a Kubernetes cluster: its kubeconfig file (in a pod with a service "
                   "account and without ~/.muster: the pod's own cluster)")
      ->type_name("FILE");
  app_->add_option("--context", flags_.kube_context,
                   "Talk to a Kubernetes cluster: the kubeconfig context");
  app_->add_flag("--insecure-skip-tls-verify", flags_.insecure,
                 "Allow a kubeconfig that skips certificate checks");
  app_->add_option("-n,--namespace", flags_.ns, "Namespace")->check(dns_label());
  app_->add_option("--color", flags_.color, "auto, always or never")
      ->check(one_of({"auto", "always", "never"}));
  app_->add_flag("-v", flags_.verbosity, "More diagnostics on stderr; twice for debugging");
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

void Parser::add_log_format(CLI::App* app) {
  app->add_option(
         "--log-format", flags_.log_format,
         "text, or json: an object a line on standard error, for programs that collect logs")
      ->check(one_of({"text", "json"}));
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
