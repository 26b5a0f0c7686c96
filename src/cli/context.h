#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/log.h"
#include "base/random.h"
#include "cli/terminal/output.h"
#include "plan/dialect.h"
#include "rt/pool.h"
#include "rt/real_loop.h"

namespace muster::cli {

// What every verb is handed: the process's loop and seams, its environment and the common flags.
struct Context {
  rt::RealLoop& loop;
  rt::Pool& pool;
  Rng& rng;
  const plan::Registry& registry;
  std::map<std::string, std::string> environment;
  Logger log;
  Output& output;

  // Common flags.
  std::string home;     // $MUSTER_HOME, absolute
  std::string where;    // --home, --kubeconfig, --context and -n as given: " -n training", or empty
  std::string typed{};  // the whole command line, as it could be typed again
  std::optional<std::string> kubeconfig;  // "": none, the service account of this pod
  std::optional<std::string> kube_context;
  bool insecure = false;  // --insecure-skip-tls-verify
  std::string ns;         // empty: the context's, or "default"
  bool all_namespaces = false;
  std::string color = "auto";

  // What this machine is as a node; for commands that may run pods themselves.
  std::vector<std::string> image_files;          // --images, looked at before the home's
  std::map<std::string, std::int64_t> capacity;  // --capacity: declared, not real
  std::string agent_image;                       // --agent-image; empty: the usual one

  [[nodiscard]] std::string env(const std::string& name) const {
    const auto found = environment.find(name);
    return found == environment.end() ? "" : found->second;
  }
  [[nodiscard]] bool wants_cluster() const { return kubeconfig || kube_context; }
  // "muster WORDS" as the user would have to type it now: with the flags that said where.
  [[nodiscard]] std::string command(std::string_view words) const;
};

// Exit codes as users meet them: docs/cli.md.
namespace exit_code {
inline constexpr int kOk = 0;
inline constexpr int kFailed = 1;
inline constexpr int kUsage = 2;
inline constexpr int kTimeout = 124;
inline constexpr int kOurs = 125;
inline constexpr int kInterrupted = 130;
}  // namespace exit_code

}  // namespace muster::cli
