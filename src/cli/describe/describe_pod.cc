#include "cli/describe/describe_pod.h"

#include <fmt/format.h>

#include "api/object.h"
#include "api/pod.h"
#include "base/strings.h"
#include "cli/describe/description.h"
#include "cli/tables/pod_rows.h"
#include "json/write.h"

namespace muster::cli {
namespace {

constexpr std::size_t kLabelWidth = 18;

std::string yes_or_no(bool value) {
  return value ? "True" : "False";
}

std::vector<std::string> words_of(const json::Value& list) {
  std::vector<std::string> words;
  for (const json::Value& word : list.as_array()) words.push_back(shortened(word.as_string(), 200));
  return words;
}

// What a container does now, or did before its last restart.
void describe_state(Description& text, std::string_view label, const json::Value& state) {
  for (const auto& [name, details] : state.as_object()) {
    std::string title = name;
    if (!title.empty()) title[0] = static_cast<char>(title[0] & ~0x20);
    text.line(4, label, title);
    text.line_if(6, "Reason", details["reason"].as_string());
    text.line_if(6, "Message", details["message"].as_string());
    if (name == "terminated") {
      text.line(6, "Exit Code", std::to_string(details["exitCode"].as_int()));
      if (details["signal"].as_int() != 0)
        text.line(6, "Signal", std::to_string(details["signal"].as_int()));
    }
    text.line_if(6, "Started", details["startedAt"].as_string());
    text.line_if(6, "Finished", details["finishedAt"].as_string());
    return;
  }
}

// Where a variable's value comes from; never a secret's value.
std::string source_of(const json::Value& variable) {
  const json::Value& from = variable["valueFrom"];
  if (!from.is_object()) return shortened(variable["value"].as_string(), 200);
  for (const auto& [kind, reference] : from.as_object()) {
    if (kind == "fieldRef") return fmt::format("({})", reference["fieldPath"].as_string());
    if (kind == "resourceFieldRef") return fmt::format("({})", reference["resource"].as_string());
    return fmt::format("<key {} of {} {}>", reference["key"].as_string(),
                       kind == "secretKeyRef" ? "secret" : "configmap",
                       reference["name"].as_string());
  }
  return "";
}

std::vector<std::string> environment_of(const json::Value& container) {
  std::vector<std::string> lines;
  for (const json::Value& all : container["envFrom"].as_array()) {
    const bool secret = all["secretRef"].is_object();
    lines.push_back(fmt::format("<all of {} {}>", secret ? "secret" : "configmap",
                                all[secret ? "secretRef" : "configMapRef"]["name"].as_string()));
  }
  for (const json::Value& variable : container["env"].as_array())
    lines.push_back(fmt::format("{}={}", variable["name"].as_string(), source_of(variable)));
  return lines;
}

std::vector<std::string> mounts_of(const json::Value& container) {
  std::vector<std::string> lines;
  for (const json::Value& mount : container["volumeMounts"].as_array()) {
    lines.push_back(fmt::format("{} from {} ({})", mount["mountPath"].as_string(),
                                mount["name"].as_string(),
                                mount["readOnly"].as_bool() ? "ro" : "rw"));
  }
  return lines;
}

void describe_container(Description& text, const json::Value& pod, const json::Value& container) {
  const json::Value& status = api::container_status(pod, container["name"].as_string());
  text.heading(2, container["name"].as_string());
  text.line(4, "Image", container["image"].as_string());
  const auto command = words_of(container["command"]);
  const auto arguments = words_of(container["args"]);
  if (!command.empty()) text.line(4, "Command", join(command, " "));
  if (!arguments.empty()) text.line(4, "Args", join(arguments, " "));
  if (!container["workingDir"].as_string().empty())
    text.line(4, "Working Dir", container["workingDir"].as_string());
  if (status["state"].is_object())
    describe_state(text, "State", status["state"]);
  else
    text.line(4, "State", "Waiting");
  describe_state(text, "Last State", status["lastState"]);
  text.line(4, "Ready", yes_or_no(status["ready"].as_bool()));
  text.line(4, "Restart Count", std::to_string(status["restartCount"].as_int()));
  for (const auto& [label, field] :
       {std::pair("Limits", "limits"), std::pair("Requests", "requests")}) {
    const auto amounts = pairs_of(container["resources"][field]);
    if (!amounts.empty()) text.lines(4, label, amounts);
  }
  text.lines(4, "Environment", environment_of(container));
  text.lines(4, "Mounts", mounts_of(container));
}

void describe_containers(Description& text, const json::Value& pod, std::string_view label,
                         std::string_view field) {
  const auto& containers = pod["spec"][field].as_array();
  if (containers.empty()) return;
  text.heading(0, label);
  for (const json::Value& container : containers) describe_container(text, pod, container);
}

// The kind of a volume and what it is made from, in one line.
std::string volume_source(const json::Value& volume) {
  for (const auto& [kind, source] : volume.as_object()) {
    if (kind == "name") continue;
    return fmt::format("{} {}", kind, shortened(json::write(source), 120));
  }
  return "";
}

void describe_conditions(Description& text, const json::Value& pod) {
  std::vector<std::vector<std::string>> rows = {{"TYPE", "STATUS", "REASON", "MESSAGE"}};
  for (const json::Value& condition : pod["status"]["conditions"].as_array()) {
    rows.push_back({condition["type"].as_string(), condition["status"].as_string(),
                    condition["reason"].as_string(), condition["message"].as_string()});
  }
  text.table("Conditions", rows);
}

std::string owner_of(const json::Value& pod) {
  for (const auto& owner : api::owners_of(pod)) {
    if (owner.controller) return fmt::format("{}/{}", owner.kind, owner.name);
  }
  return "";
}

std::string node_of(const json::Value& pod) {
  const std::string& name = api::node_name_of(pod);
  const std::string& address = pod["status"]["hostIP"].as_string();
  return address.empty() ? name : fmt::format("{}/{}", name, address);
}

}  // namespace

std::string describe_pod(const json::Value& pod) {
  Description text(kLabelWidth);
  const json::Value& status = pod["status"];
  text.line(0, "Name", api::name_of(pod));
  text.line(0, "Namespace", api::namespace_of(pod));
  text.line_if(0, "Priority Class", pod["spec"]["priorityClassName"].as_string());
  text.line(0, "Node", node_of(pod));
  text.line(0, "Created", pod["metadata"]["creationTimestamp"].as_string());
  text.line(0, "Start Time", status["startTime"].as_string());
  text.lines(0, "Labels", pairs_of(pod["metadata"]["labels"]));
  text.lines(0, "Annotations", pairs_of(pod["metadata"]["annotations"]));
  text.line(0, "Status", pod_state(pod));
  if (api::is_deleting(pod)) {
    text.line(0, "Deleted At", pod["metadata"]["deletionTimestamp"].as_string());
  }
  text.line_if(0, "Reason", status["reason"].as_string());
  text.line_if(0, "Message", status["message"].as_string());
  text.line(0, "IP", api::pod_ip_of(pod));
  text.line(0, "Controlled By", owner_of(pod));
  describe_containers(text, pod, "Init Containers", "initContainers");
  describe_containers(text, pod, "Containers", "containers");
  describe_conditions(text, pod);
  text.heading(0, "Volumes", pod["spec"]["volumes"].as_array().empty() ? "<none>" : "");
  for (const json::Value& volume : pod["spec"]["volumes"].as_array())
    text.line(2, volume["name"].as_string(), volume_source(volume));
  text.line(0, "Restart Policy", pod["spec"]["restartPolicy"].as_string());
  if (pod["spec"]["nodeSelector"].is_object())
    text.lines(0, "Node Selectors", pairs_of(pod["spec"]["nodeSelector"]));
  return text.text();
}

}  // namespace muster::cli
