#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/context.h"
#include "rt/task.h"

namespace muster::cli {

// Flags that every verb shares.
struct Flags {
  std::string home;
  std::string kubeconfig;
  std::string kube_context;
  bool insecure = false;
  std::string ns;
  bool all_namespaces = false;
  std::string color = "auto";
  int verbosity = 0;
  std::vector<std::string> image_files;
  std::map<std::string, std::int64_t> capacity;
  std::string agent_image;
  std::string log_format = "text";  // or json
  bool long_running = false;        // up, operator, node: they say what they do
  bool either_place = false;  // the verb is about this machine, or a cluster if flags name one
};

using Verb = std::function<Task<int>(Context&)>;

// Reads the command line into flags and what to run; an exit code when there is nothing to run
// (help, a usage error).
std::optional<int> parse(int argc, char** argv, Output& output, Flags& flags, Verb& verb);

// Flags that say where, as they would have to be given again: " --home X -n training".
std::string where_words(const Flags& flags);

}  // namespace muster::cli
