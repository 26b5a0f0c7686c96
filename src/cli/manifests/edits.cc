#include "cli/manifests/edits.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <optional>

#include <fmt/format.h>

#include "api/names.h"
#include "api/object.h"
#include "base/strings.h"
#include "cli/fields/field_path.h"
#include "cli/fields/schemas.h"
#include "dialects/check/messages.h"
#include "yaml/yaml.h"

namespace muster::cli {
namespace {

namespace fs = std::filesystem;

struct Setting {
  FieldPath path;
  json::Value value;
};

Result<Setting> parse_setting(const std::string& text) {
  const auto equals = text.find('=');
  if (equals == std::string::npos) {
    return fail(
        ErrorCode::BadRequest,
        fmt::format("--set {}: write PATH=VALUE, as in spec.runPolicy.backoffLimit=3", text));
  }
  const auto in_flag = [&](Error error) { return error.in("--set " + text); };
  auto path = FieldPath::parse(std::string_view(text).substr(0, equals));
  if (!path) return fail(in_flag(path.error()));
  const auto written = std::string_view(text).substr(equals + 1);
  if (written.empty()) return Setting{.path = std::move(*path), .value = ""};
  auto documents = yaml::read(written);
  if (!documents) return fail(in_flag(documents.error()));
  if (documents->size() > 1) {
    return fail(ErrorCode::BadRequest, fmt::format("--set {}: one value is needed", text));
  }
  // Empty documents are left out: that was null.
  json::Value value = documents->empty() ? json::Value() : std::move(documents->front().value);
  return Setting{.path = std::move(*path), .value = std::move(value)};
}

// Why the manifest cannot have the field; nothing: it has it now.
Result<std::optional<plan::UnknownField>> try_setting(const Setting& setting, Manifest& manifest) {
  const auto schema = schema_for(manifest.resource, manifest.dialect);
  if (auto end = where_it_ends(setting.path, schema, manifest.object)) return end;
  json::Value changed = manifest.object;
  const auto set = set_field(setting.path, setting.value, changed);
  if (!set) return fail(set.error().in(manifest.source));
  if (manifest.dialect != nullptr) {
    for (auto& unknown : manifest.dialect->unknown_fields(changed)) {
      if (setting.path.text.starts_with(unknown.path)) return unknown;
    }
  }
  manifest.object = std::move(changed);
  return std::nullopt;
}

std::string did_you_mean(const plan::UnknownField& field) {
  return field.meant.empty() ? "" : fmt::format(", did you mean {}?", field.meant);
}

Result<void> apply(const std::string& text, std::vector<Manifest*>& manifests) {
  const Setting setting = TRY(parse_setting(text));
  std::optional<Error> why;
  bool helps = false;  // it knows what was meant
  bool applied = false;
  for (Manifest* manifest : manifests) {
    const auto missing = TRY(try_setting(setting, *manifest));
    if (!missing) {
      applied = true;
    } else if (!why || (!helps && !missing->meant.empty())) {
      helps = !missing->meant.empty();
      why = Error{.code = ErrorCode::Invalid,
                  .message = fmt::format("--set {}: {} {} ({}) has no field {}{}", text,
                                         manifest->resource.kind, api::name_of(manifest->object),
                                         manifest->source, missing->path, did_you_mean(*missing))};
    }
  }
  if (applied || !why) return {};
  return fail(std::move(*why));
}

// Jobs and pods; where there is none, whatever there is.
std::vector<Manifest*> candidates(std::vector<Manifest>& manifests) {
  std::vector<Manifest*> running;
  std::vector<Manifest*> all;
  for (Manifest& manifest : manifests) {
    all.push_back(&manifest);
    if (manifest.runs()) running.push_back(&manifest);
  }
  return running.empty() ? all : running;
}

// Calls it with the spec of every pod. An error when there is none.
Result<void> for_each_pod(std::string_view flag, std::vector<Manifest>& manifests,
                          const std::function<void(json::Value&)>& change) {
  bool any = false;
  for (Manifest& manifest : manifests) {
    if (!manifest.runs()) continue;
    const auto schema = schema_for(manifest.resource, manifest.dialect);
    for (json::Value* spec : pod_specs(schema, manifest.object)) {
      change(*spec);
      any = true;
    }
  }
  if (any) return {};
  return fail(ErrorCode::BadRequest,
              fmt::format("{}: there is no job and no pod in the manifests", flag));
}

void for_each_container(json::Value& spec, const std::function<void(json::Value&)>& change) {
  for (const auto* list : {"initContainers", "containers"}) {
    if (!std::as_const(spec)[list].is_array()) continue;
    for (json::Value& container : spec[list].array()) {
      if (container.is_object()) change(container);
    }
  }
}

// Pods read $(NAME) as a reference; a shell has already read what is given here.
std::string literal(const std::string& value) {
  std::string out;
  for (const char c : value) out += c == '$' ? "$$" : std::string(1, c);
  return out;
}

void set_variable(json::Value& container, const std::string& name, const std::string& value) {
  if (!std::as_const(container)["env"].is_array()) container["env"] = json::Array{};
  json::Array& variables = container["env"].array();
  std::erase_if(variables, [&](const json::Value& one) { return one["name"].as_string() == name; });
  variables.emplace_back(json::Object{{"name", name}, {"value", literal(value)}});
}

// A name that no volume of the pod has.
std::string free_name(const json::Value& spec) {
  for (int number = 0;; ++number) {
    auto name = fmt::format("muster-mount-{}", number);
    if (api::find_named(spec["volumes"], name) == nullptr) return name;
  }
}

void add_mount(json::Value& spec, const MountFlag& mount) {
  const auto name = free_name(spec);
  if (!std::as_const(spec)["volumes"].is_array()) spec["volumes"] = json::Array{};
  spec["volumes"].array().emplace_back(
      json::Object{{"name", name},
                   {"hostPath", json::Object{{"path", mount.directory}, {"type", "Directory"}}}});
  for_each_container(spec, [&](json::Value& container) {
    json::Object entry{{"name", name}, {"mountPath", mount.path}};
    if (mount.read_only) entry.set("readOnly", true);
    if (!std::as_const(container)["volumeMounts"].is_array()) {
      container["volumeMounts"] = json::Array{};
    }
    container["volumeMounts"].array().emplace_back(std::move(entry));
  });
}

}  // namespace

Result<MountFlag> parse_mount(const std::string& text) {
  const auto bad = [&](std::string_view why) {
    return fail(ErrorCode::BadRequest, fmt::format("--mount {}: {}", text, why));
  };
  MountFlag mount;
  std::vector<std::string_view> parts = split(text, ':');
  if (parts.size() > 1 && (parts.back() == "ro" || parts.back() == "rw")) {
    mount.read_only = parts.back() == "ro";
    parts.pop_back();
  }
  if (parts.size() > 2 || parts.front().empty()) return bad("write DIR, DIR:PATH or DIR:PATH:ro");
  std::error_code error;
  const auto directory = fs::canonical(parts.front(), error);
  if (error) return bad(fmt::format("{}: {}", parts.front(), error.message()));
  if (!fs::is_directory(directory, error)) {
    return bad(fmt::format("{} is not a directory", parts.front()));
  }
  mount.directory = directory.string();
  // Where it is named by a link, that is where programs look for it.
  mount.path = parts.size() == 2 ? std::string(parts[1])
                                 : fs::absolute(parts.front(), error).lexically_normal().string();
  if (mount.path.size() > 1 && mount.path.ends_with('/')) mount.path.pop_back();
  if (!mount.path.starts_with('/')) {
    return bad(fmt::format("{} is not an absolute path in the containers", mount.path));
  }
  return mount;
}

Result<std::pair<std::string, std::string>> parse_env(
    const std::string& text, const std::map<std::string, std::string>& environment) {
  const auto equals = text.find('=');
  std::string name = text.substr(0, equals);
  if (const auto wrong = api::check_env_name(name)) {
    return fail(ErrorCode::BadRequest,
                fmt::format("--env {}: {}: {}", text, dialects::in_quotes(name), *wrong));
  }
  if (equals != std::string::npos) return std::pair(std::move(name), text.substr(equals + 1));
  const auto found = environment.find(name);
  if (found == environment.end()) {
    return fail(ErrorCode::NotFound,
                fmt::format("--env {}: it is not set here; write {}=VALUE", name, name));
  }
  return std::pair(std::move(name), found->second);
}

Result<void> set_fields(const std::vector<std::string>& settings,
                        std::vector<Manifest>& manifests) {
  auto targets = candidates(manifests);
  for (const std::string& text : settings) TRY(apply(text, targets));
  return {};
}

Result<void> add_environment(const std::vector<std::pair<std::string, std::string>>& variables,
                             std::vector<Manifest>& manifests) {
  if (variables.empty()) return {};
  return for_each_pod("--env", manifests, [&](json::Value& spec) {
    for_each_container(spec, [&](json::Value& container) {
      for (const auto& [name, value] : variables) set_variable(container, name, value);
    });
  });
}

Result<void> add_mounts(const std::vector<MountFlag>& mounts, std::vector<Manifest>& manifests) {
  if (mounts.empty()) return {};
  return for_each_pod("--mount", manifests, [&](json::Value& spec) {
    for (const MountFlag& mount : mounts) add_mount(spec, mount);
  });
}

}  // namespace muster::cli
