#include "dialects/t9k/run_mode.h"

#include <set>

#include <fmt/format.h>

#include "base/strings.h"
#include "dialects/check/messages.h"
#include "dialects/check/pod_template.h"
#include "dialects/t9k/values.h"
#include "json/write.h"

namespace muster::dialects::t9k {
namespace {

constexpr std::string_view kKeepsResumeSpecs =
    "cannot be changed once the job is there, because pods of the next run depend on it; delete "
    "the job and create it anew";
constexpr std::string_view kNotWhileItRuns =
    "cannot be turned on for a job that is there; delete it and create it anew";

constexpr auto kFields = std::to_array<Field>({
    {.path = "",
     .type = Type::Object,
     .doc = "How the job runs: at once (default), to be debugged, or not now."},
    {.path = "debug",
     .type = Type::Object,
     .doc = "Debugging: pods wait instead of working, and a person looks into them."},
    {.path = "debug.enabled",
     .type = Type::Bool,
     .fallback = "false",
     .doc = "Whether pods wait to be debugged. Turned off, all pods are made anew and the job "
            "runs; it cannot be turned on later."},
    {.path = "debug.enable", .type = Type::Bool, .doc = "An older spelling of enabled."},
    {.path = "debug.replicaSpecs",
     .type = Type::List,
     .maximum = 16,
     .doc = "What the pods of a role do meanwhile; a role without an entry does what is usual."},
    {.path = "debug.replicaSpecs[]", .type = Type::Object, .doc = "The pods of one role."},
    {.path = "debug.replicaSpecs[].skipInitContainer",
     .type = Type::Bool,
     .fallback = "false",
     .doc = "Whether init containers of the template are left out."},
    {.path = "debug.replicaSpecs[].command",
     .type = Type::List,
     .maximum = 1000,
     .doc = "What the main container runs while it waits."},
    {.path = "debug.replicaSpecs[].command[]", .type = Type::String, .doc = "A word of it."},
    {.path = "pause",
     .type = Type::Object,
     .doc = "Pausing: no pods, until it is turned off. The job then begins anew."},
    {.path = "pause.enabled",
     .type = Type::Bool,
     .fallback = "false",
     .doc = "Whether the job is paused. May be changed at any time."},
    {.path = "pause.enable", .type = Type::Bool, .doc = "An older spelling of enabled."},
    {.path = "pause.resumeSpecs",
     .type = Type::List,
     .maximum = 16,
     .doc = "What is different for the pods of a role after a pause. Cannot be changed once the "
            "job is there."},
    {.path = "pause.resumeSpecs[]", .type = Type::Object, .doc = "The pods of one role."},
    {.path = "pause.resumeSpecs[].skipInitContainer",
     .type = Type::Bool,
     .fallback = "false",
     .doc = "Whether init containers of the template are left out."},
    {.path = "pause.resumeSpecs[].command",
     .type = Type::List,
     .maximum = 1000,
     .doc = "What the main container runs, in place of what it ran before."},
    {.path = "pause.resumeSpecs[].command[]", .type = Type::String, .doc = "A word of it."},
    {.path = "pause.resumeSpecs[].args",
     .type = Type::List,
     .maximum = 1000,
     .doc = "Arguments of the command."},
    {.path = "pause.resumeSpecs[].args[]", .type = Type::String, .doc = "One argument."},
});

std::map<std::string, RoleMode> read_roles(const json::Value& list) {
  std::map<std::string, RoleMode> out;
  for (const json::Value& entry : list.as_array()) {
    out.try_emplace(entry["type"].as_string(),
                    RoleMode{.skip_init_containers = entry["skipInitContainer"].as_bool(),
                             .command = words(entry["command"]),
                             .args = words(entry["args"])});
  }
  return out;
}

RoleMode mode_of(const std::map<std::string, RoleMode>& modes, const std::string& role) {
  const auto found = modes.find(role);
  return found == modes.end() ? RoleMode{} : found->second;
}

void check_unique(const json::Value& list, const Path& path, Findings& findings) {
  std::set<std::string> seen;
  for (std::size_t i = 0; i < list.as_array().size(); ++i) {
    const std::string& type = list[i]["type"].as_string();
    if (type.empty() || seen.insert(type).second) continue;
    findings.refuse(path[i] / "type", dialects::rules::kUnique,
                    fmt::format("{} is there twice; keep one entry", in_quotes(type)));
  }
}

}  // namespace

RoleMode RunMode::debug_of(const std::string& role) const {
  return mode_of(debugging, role);
}

RoleMode RunMode::resume_of(const std::string& role) const {
  return mode_of(resuming, role);
}

void add_run_mode(std::string_view roles, FieldTable& table) {
  table.add("spec.runMode", kFields);
  for (const std::string_view list : {"debug.replicaSpecs[]", "pause.resumeSpecs[]"}) {
    table.add(fmt::format("spec.runMode.{}", list),
              std::array{Field{.path = "type",
                               .type = Type::String,
                               .required = true,
                               .allowed = roles,
                               .doc = "The role that this entry is about."}});
  }
}

RunMode read_run_mode(const json::Value& run_mode) {
  return {.debug = is_on(run_mode["debug"]),
          .paused = is_on(run_mode["pause"]),
          .debugging = read_roles(run_mode["debug"]["replicaSpecs"]),
          .resuming = read_roles(run_mode["pause"]["resumeSpecs"])};
}

std::map<std::string, std::string> fixed_run_mode(const json::Value& run_mode) {
  const std::string specs = json::write_canonical(run_mode["pause"]["resumeSpecs"]);
  std::map<std::string, std::string> out{
      {"spec.runMode.pause.resumeSpecs", fmt::format("{:016x}", stable_hash(specs))}};
  if (!is_on(run_mode["debug"])) out["spec.runMode.debug.enabled"] = "off";
  return out;
}

void check_run_mode(const json::Value& run_mode, const Path& path, Findings& findings) {
  check_unique(run_mode["debug"]["replicaSpecs"], path / "debug" / "replicaSpecs", findings);
  check_unique(run_mode["pause"]["resumeSpecs"], path / "pause" / "resumeSpecs", findings);
}

void check_run_mode_update(const json::Value& old, const json::Value& fresh, const Path& path,
                           Findings& findings) {
  if (old["pause"]["resumeSpecs"] != fresh["pause"]["resumeSpecs"]) {
    findings.refuse(path / "pause" / "resumeSpecs", rules::kImmutable,
                    std::string(kKeepsResumeSpecs));
  }
  if (!is_on(old["debug"]) && is_on(fresh["debug"])) {
    findings.refuse(path / "debug" / "enabled", rules::kImmutable, std::string(kNotWhileItRuns));
  }
}

std::vector<CelRule> run_mode_rules() {
  const auto has_specs = [](std::string_view self) {
    return fmt::format(
        "(has({0}.runMode) && has({0}.runMode.pause) && has({0}.runMode.pause.resumeSpecs))", self);
  };
  const auto debugs = [](std::string_view self) {
    return fmt::format(
        "(has({0}.runMode) && has({0}.runMode.debug) && (has({0}.runMode.debug.enabled) ? "
        "{0}.runMode.debug.enabled : has({0}.runMode.debug.enable) && {0}.runMode.debug.enable))",
        self);
  };
  return {{.at = "spec",
           .rule = fmt::format("{0} == {1} && (!{0} || self.runMode.pause.resumeSpecs == "
                               "oldSelf.runMode.pause.resumeSpecs)",
                               has_specs("self"), has_specs("oldSelf")),
           .message = fmt::format("runMode.pause.resumeSpecs {}", kKeepsResumeSpecs),
           .reason = "FieldValueForbidden"},
          {.at = "spec",
           .rule = fmt::format("{} || !{}", debugs("oldSelf"), debugs("self")),
           .message = fmt::format("runMode.debug.enabled {}", kNotWhileItRuns),
           .reason = "FieldValueForbidden"}};
}

}  // namespace muster::dialects::t9k
