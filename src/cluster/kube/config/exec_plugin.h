#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "json/value.h"

namespace muster::cluster::kube {

class EntryReader;

// Whether a plugin may talk with the person at our terminal.
enum class PluginInput { Never, IfAvailable, Always };

// A program that says who we are: users[].user.exec, as plain data.
struct ExecPlugin {
  std::string where;        // the user entry, for messages: config: user "me"
  std::string api_version;  // client.authentication.k8s.io/v1 or v1beta1
  std::string command;      // a name in PATH, or a path
  std::vector<std::string> arguments;
  std::vector<std::pair<std::string, std::string>> environment;  // on top of ours
  PluginInput input = PluginInput::IfAvailable;
  std::string install_hint;
  json::Value cluster;  // null: it is not told which cluster it is for (provideClusterInfo)
};

// The plugin of a user entry. `cluster` is what it is told of the cluster if it wants that.
Result<ExecPlugin> read_exec_plugin(const EntryReader& user, const json::Value& exec,
                                    json::Value cluster);

}  // namespace muster::cluster::kube
