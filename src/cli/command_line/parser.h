#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/command_line/cli11.h"
#include "cli/command_line/command_line.h"
#include "cli/command_line/help_page.h"
#include "cli/verbs/verbs.h"

namespace muster::cli {

// Which of the flags that all commands take mean something to a command. Its help lists them.
struct Obeyed {
  bool home = true;
  bool cluster = true;  // --kubeconfig, --context, --insecure-skip-tls-verify
  bool ns = true;
  bool color = false;
  bool verbosity = true;
};

// The whole command line. Each verb adds itself with its flags, in the file of its group, and fills
// its options; what to run is then a function of the context.
class Parser {
 public:
  Parser(Output& output, Flags& flags, Verb& verb);
  ~Parser();
  Parser(const Parser&) = delete;
  Parser& operator=(const Parser&) = delete;

  std::optional<int> parse(int argc, char** argv);
  // What the help of a command says; null: of the program.
  [[nodiscard]] HelpPage page(const CLI::App* command) const;
  [[nodiscard]] const CLI::App& app() const { return *app_; }

 private:
  struct Notes {
    std::vector<std::string> examples;
    Obeyed obeyed;
    std::string behind;  // what follows the arguments, and is not ours to parse
  };

  // A command of the group that is being added. An empty group(…) of it hides it from help.
  CLI::App* command(const std::string& name, const std::string& description,
                    const std::string& example_text, Obeyed obeyed = {});
  void add_common();
  void add_image_files(CLI::App* app);
  void add_agent_image(CLI::App* app);  // for commands that run jobs
  void add_submission(CLI::App* app);   // how run takes its manifests
  void add_log_format(CLI::App* app);   // for commands that go on
  void add_node_flags(CLI::App* app);   // for commands that make this machine a node

  void add_run();
  void add_attach();
  void add_up();
  void add_plane();
  void add_get();
  void add_describe();
  void add_logs();
  void add_history();
  void add_top();
  void add_exec();
  void add_delete();
  void add_wait();
  void add_pause();
  void add_resume();
  void add_operator();
  void add_node();
  void add_doctor();
  void add_images();
  void add_explain();
  void add_version();
  void add_completion();
  void add_help();

  [[nodiscard]] const Notes& notes_of(const CLI::App* command) const;
  int print_help(Output& output) const;
  int refuse(const std::string& problem) const;
  int refuse_verb(const std::string& word) const;
  int refuse_extra(const CLI::App& app) const;
  [[nodiscard]] const CLI::App* used_verb() const;
  [[nodiscard]] std::vector<std::string> verb_names() const;

  std::unique_ptr<CLI::App> app_;
  Output& output_;
  Flags& flags_;
  Verb& verb_;
  std::string group_;  // that of the next command
  std::map<std::string, Notes> notes_;
  RunOptions run_;
  std::vector<std::string> run_named_;
  FollowOptions attach_;
  std::string dry_run_ = "client";
  std::string validate_ = "strict";
  ImagesOptions images_;
  ExplainOptions explain_;
  UpOptions up_;
  GetOptions get_;
  DescribeOptions describe_;
  LogsOptions logs_;
  HistoryOptions history_;
  std::string ranks_;
  TopOptions top_;
  ExecVerbOptions exec_;
  DeleteOptions delete_;
  WaitOptions wait_;
  PauseOptions pause_;
  ResumeOptions resume_;
  OperatorOptions operator_;
  NodeVerbOptions node_;
  DoctorOptions doctor_;
  std::string version_output_;
  std::string completion_shell_;
  std::string help_command_;
  bool help_as_man_page_ = false;
};

}  // namespace muster::cli
