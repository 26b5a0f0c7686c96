#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "api/requests.h"
#include "base/error.h"
#include "json/value.h"

// Exec as Kubernetes speaks of it: what is asked in a query, and what a program's end is called.
namespace muster::api {

// The query of pods/exec (stdin, stdout, stderr), or of a node's exec, which calls them input,
// output and error. BadRequest in the real server's words.
enum class ExecNames { Pod, Node };
Result<ExecOptions> parse_exec_query(std::string_view query, ExecNames names);
std::string exec_query(const ExecOptions& options);

// The container that is meant: the named one, the one that the annotation
// kubectl.kubernetes.io/default-container names, or the first. BadRequest when the pod has no such
// container or it does not run.
Result<std::string> exec_container(const json::Value& pod, const std::string& named);

// {"Width": 80, "Height": 25}; nothing for what is not that.
std::optional<std::pair<int, int>> parse_terminal_size(std::string_view text);
std::string terminal_size(int columns, int rows);

// The Status that tells of a program's end, and back: the exit code, or the error that it tells.
json::Value exit_status(int exit_code);
Result<int> exit_code_of_status(const json::Value& status);

}  // namespace muster::api
