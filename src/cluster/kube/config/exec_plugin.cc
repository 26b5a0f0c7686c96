#include "cluster/kube/config/exec_plugin.h"

#include <fmt/format.h>

#include "cluster/kube/config/entry_reader.h"

namespace muster::cluster::kube {
namespace {

constexpr std::string_view kV1 = "client.authentication.k8s.io/v1";
constexpr std::string_view kV1Beta1 = "client.authentication.k8s.io/v1beta1";

// The first version of this interface that had to be told, and what the one before meant.
Result<PluginInput> input_of(const EntryReader& exec, std::string_view api_version) {
  const std::string mode = TRY(exec.text("interactiveMode"));
  if (mode == "Never") return PluginInput::Never;
  if (mode == "IfAvailable") return PluginInput::IfAvailable;
  if (mode == "Always") return PluginInput::Always;
  if (mode.empty() && api_version == kV1Beta1) return PluginInput::IfAvailable;
  return exec.invalid(fmt::format("interactiveMode is {}, it must be Never, IfAvailable or Always",
                                  mode.empty() ? "missing" : quoted(mode)));
}

Result<std::vector<std::pair<std::string, std::string>>> environment_of(const EntryReader& exec) {
  std::vector<std::pair<std::string, std::string>> out;
  const json::Value* list = TRY(exec.list("env"));
  if (list == nullptr) return out;
  for (std::size_t i = 0; i < list->as_array().size(); ++i) {
    const json::Value& item = (*list)[i];
    const EntryReader entry = exec.inside(item, fmt::format("env[{}]", i));
    std::string name = TRY(entry.text("name"));
    std::string value = TRY(entry.text("value"));
    if (name.empty() || name.contains('=') || name.contains('\0') || value.contains('\0'))
      return entry.invalid("it needs a name without =, and a value");
    out.emplace_back(std::move(name), std::move(value));
  }
  return out;
}

}  // namespace

Result<ExecPlugin> read_exec_plugin(const EntryReader& user, const json::Value& exec,
                                    json::Value cluster) {
  const EntryReader entry = user.inside(exec, "exec");
  ExecPlugin plugin{.where = user.where(), .api_version = TRY(entry.text("apiVersion"))};
  if (plugin.api_version != kV1 && plugin.api_version != kV1Beta1) {
    return entry.invalid(fmt::format(
        "apiVersion is {}, it must be {} or {}",
        plugin.api_version.empty() ? "missing" : quoted(plugin.api_version), kV1, kV1Beta1));
  }
  plugin.command = TRY(entry.text("command"));
  if (plugin.command.empty() || plugin.command.contains('\0'))
    return entry.invalid("command is missing, it must name a program");
  if (plugin.command.contains('/')) plugin.command = entry.beside_file(plugin.command);
  plugin.arguments = TRY(entry.texts("args"));
  for (const std::string& argument : plugin.arguments) {
    if (argument.contains('\0')) return entry.invalid("args hold a NUL");
  }
  plugin.environment = TRY(environment_of(entry));
  plugin.input = TRY(input_of(entry, plugin.api_version));
  plugin.install_hint = TRY(entry.text("installHint"));
  if (TRY(entry.flag("provideClusterInfo"))) plugin.cluster = std::move(cluster);
  return plugin;
}

}  // namespace muster::cluster::kube
