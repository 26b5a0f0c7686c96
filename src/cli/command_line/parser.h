#pragma once

#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "cli/command_line/command_line.h"
#include "cli/verbs/verbs.h"

namespace muster::cli {

// The whole command line. Each verb adds itself with its flags, in the file of its group, and fills
// its options; what to run is then a function of the context.
class Parser {
 public:
  Parser(Output& output, Flags& flags, Verb& verb);
  std::optional<int> parse(int argc, char** argv);

 private:
  static bool names_exec(char** argv, int end);
  std::string used_verb() const;
  CLI::App* command(const std::string& name, const std::string& description,
                    const std::string& example_text);
  void add_common();
  void add_image_files(CLI::App* app);
  void add_agent_image(CLI::App* app);  // for commands that run jobs
  void add_node_flags(CLI::App* app);   // for commands that make this machine a node

  void add_run();
  void add_up();
  void add_get();
  void add_describe();
  void add_logs();
  void add_history();
  void add_exec();
  void add_delete();
  void add_wait();
  void add_pause();
  void add_resume();
  void add_operator();
  void add_node();
  void add_images();
  void add_version();

  CLI::App app_;
  Output& output_;
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
  HistoryOptions history_;
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

}  // namespace muster::cli
