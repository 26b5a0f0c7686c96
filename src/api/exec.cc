#include "api/exec.h"

#include <algorithm>
#include <array>
#include <vector>

#include <fmt/format.h>

#include "api/object.h"
#include "api/pod.h"
#include "api/status.h"
#include "base/strings.h"
#include "json/read.h"

namespace muster::api {

namespace {

constexpr const char* kDefaultContainer = "kubectl.kubernetes.io/default-container";
constexpr int kMostColumns = 65'535;  // what a terminal's size has room for

// Kubernetes' own rule: false when absent, 0 or false in any letter case; everything else is true.
bool is_true(std::string_view value) {
  return value != "0" && !equal_ignoring_case(value, "false");
}

Result<std::string> decode(std::string_view text) {
  std::string spaced(text);
  std::ranges::replace(spaced, '+', ' ');
  auto decoded = percent_decode(spaced);
  if (!decoded) return fail(ErrorCode::BadRequest, "the query of the request cannot be read");
  return std::move(*decoded);
}

void apply(ExecOptions& out, std::string_view name, std::string value, ExecNames names) {
  const bool pod = names == ExecNames::Pod;
  if (name == "command") {
    out.command.push_back(std::move(value));
  } else if (name == "container" && pod) {
    out.container = std::move(value);
  } else if (name == "tty") {
    out.terminal = is_true(value);
  } else if (name == (pod ? "stdin" : "input")) {
    out.input = is_true(value);
  } else if (name == (pod ? "stdout" : "output")) {
    out.output = is_true(value);
  } else if (name == (pod ? "stderr" : "error")) {
    out.error = is_true(value);
  }
}

std::vector<std::string> container_names(const json::Value& pod) {
  std::vector<std::string> names;
  for (const char* list : {"containers", "initContainers"}) {
    for (const auto& container : pod["spec"][list].as_array())
      names.push_back(container["name"].as_string());
  }
  return names;
}

std::string default_container(const json::Value& pod, const std::vector<std::string>& names) {
  const auto& annotated = annotation_of(pod, kDefaultContainer);
  if (std::ranges::find(names, annotated) != names.end()) return annotated;
  return names.empty() ? "" : names.front();
}

std::string state_text(const json::Value& state) {
  for (const char* kind : {"waiting", "terminated"}) {
    if (!state[kind].is_object()) continue;
    const auto& reason = state[kind]["reason"].as_string();
    return reason.empty() ? kind : fmt::format("{}: {}", kind, reason);
  }
  return "not started";
}

}  // namespace

Result<ExecOptions> parse_exec_query(std::string_view query, ExecNames names) {
  ExecOptions out;
  for (const auto pair : split(query, '&')) {
    const auto equals = pair.find('=');
    const auto raw =
        equals == std::string_view::npos ? std::string_view() : pair.substr(equals + 1);
    const auto name = TRY(decode(pair.substr(0, equals)));
    apply(out, name, TRY(decode(raw)), names);
  }
  if (out.command.empty())
    return fail(ErrorCode::BadRequest, "you must specify at least one command to execute");
  if (out.terminal) out.error = false;  // a terminal has one stream of output
  if (!out.input && !out.output && !out.error)
    return fail(ErrorCode::BadRequest, "you must specify at least one of stdin, stdout, stderr");
  return out;
}

std::string exec_query(const ExecOptions& options) {
  std::string query;
  const auto add = [&query](std::string_view name, std::string_view value) {
    query += fmt::format("{}{}={}", query.empty() ? "" : "&", name, percent_encode(value));
  };
  for (const auto& word : options.command) add("command", word);
  if (!options.container.empty()) add("container", options.container);
  if (options.input) add("stdin", "true");
  if (options.output) add("stdout", "true");
  if (options.error) add("stderr", "true");
  if (options.terminal) add("tty", "true");
  return query;
}

Result<std::string> exec_container(const json::Value& pod, const std::string& named) {
  const auto names = container_names(pod);
  std::string name = named.empty() ? default_container(pod, names) : named;
  if (std::ranges::find(names, name) == names.end()) {
    return fail(ErrorCode::BadRequest,
                fmt::format("container {} is not valid for pod {}, choose one of: [{}]",
                            printable(name), name_of(pod), join(names, " ")));
  }
  if (is_finished(phase_of(pod))) {
    return fail(ErrorCode::BadRequest,
                fmt::format("cannot exec into a container in a completed pod; pod {} is {}",
                            name_of(pod), to_string(phase_of(pod))));
  }
  const auto& state = container_status(pod, name)["state"];
  if (!state["running"].is_object()) {
    return fail(ErrorCode::BadRequest, fmt::format("container \"{}\" in pod \"{}\" is not running: "
                                                   "{}",
                                                   name, name_of(pod), state_text(state)));
  }
  return name;
}

std::optional<std::pair<int, int>> parse_terminal_size(std::string_view text) {
  const auto value = json::read(text);
  if (!value || !value->is_object()) return std::nullopt;
  const auto columns = (*value)["Width"].as_int(0);
  const auto rows = (*value)["Height"].as_int(0);
  const auto fits = [](std::int64_t count) { return count > 0 && count <= kMostColumns; };
  if (!fits(columns) || !fits(rows)) return std::nullopt;
  return std::pair(static_cast<int>(columns), static_cast<int>(rows));
}

std::string terminal_size(int columns, int rows) {
  return fmt::format(R"({{"Width":{},"Height":{}}})", columns, rows);
}

json::Value exit_status(int exit_code) {
  json::Value status = json::Object{{"metadata", json::Object{}}};
  if (exit_code == 0) {
    status["status"] = "Success";
    return status;
  }
  status["status"] = "Failure";
  status["message"] = fmt::format("command terminated with non-zero exit code: {}", exit_code);
  status["reason"] = "NonZeroExitCode";
  status["details"] = json::Object{
      {"causes", json::Array{json::Object{{"reason", "ExitCode"},
                                          {"message", fmt::format("{}", exit_code)}}}}};
  return status;
}

Result<int> exit_code_of_status(const json::Value& status) {
  if (status["status"].as_string() == "Success") return 0;
  if (status["reason"].as_string() == "NonZeroExitCode") {
    for (const auto& cause : status["details"]["causes"].as_array()) {
      if (cause["reason"].as_string() != "ExitCode") continue;
      const auto code = parse_int(cause["message"].as_string());
      if (code && *code >= 0 && *code <= 255) return static_cast<int>(*code);
    }
  }
  return fail(error_from_status(static_cast<int>(status["code"].as_int(500)), status));
}

}  // namespace muster::api
