#include "node/pod/container/container_spec.h"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "api/object.h"
#include "api/quantity.h"
#include "base/strings.h"
#include "node/agent/device_files.h"
#include "node/network/service_environment.h"
#include "node/pod/container/environment.h"
#include "node/pod/container/security.h"
#include "node/volumes/on_host.h"

namespace muster::node {

namespace {

std::optional<api::Quantity> quantity_at(const json::Value& map, std::string_view name) {
  const auto* value = map.as_object().find(name);
  if (value == nullptr) return std::nullopt;
  const auto parsed = api::Quantity::from(*value);
  return parsed ? std::optional(*parsed) : std::nullopt;
}

ResourceLimits limits_of(const json::Value& container) {
  const auto& resources = container["resources"];
  ResourceLimits out;
  if (const auto cpu = quantity_at(resources["limits"], "cpu")) out.cpu_milli = cpu->milli();
  if (const auto memory = quantity_at(resources["limits"], "memory")) {
    out.memory_bytes = memory->whole();
  }
  auto request = quantity_at(resources["requests"], "cpu");
  if (!request) request = quantity_at(resources["limits"], "cpu");
  if (request) out.cpu_request_milli = request->milli();
  return out;
}

// A bound for the pod exists only where every container has one.
void add(std::optional<std::int64_t>& sum, const std::optional<std::int64_t>& part) {
  if (sum && part) {
    *sum += *part;
  } else {
    sum.reset();
  }
}

ResourceLimits pod_limits(const json::Value& pod) {
  ResourceLimits out{.cpu_milli = 0, .memory_bytes = 0, .cpu_request_milli = 0};
  for (const auto& container : pod["spec"]["containers"].as_array()) {
    const auto one = limits_of(container);
    add(out.cpu_milli, one.cpu_milli);
    add(out.memory_bytes, one.memory_bytes);
    out.cpu_request_milli = *out.cpu_request_milli + one.cpu_request_milli.value_or(0);
  }
  // Init containers run before, but within the same bound; a larger one would be killed by it.
  for (const auto& container : pod["spec"]["initContainers"].as_array()) {
    const auto one = limits_of(container);
    if (!one.cpu_milli || (out.cpu_milli && *one.cpu_milli > *out.cpu_milli)) out.cpu_milli.reset();
    if (!one.memory_bytes || (out.memory_bytes && *one.memory_bytes > *out.memory_bytes)) {
      out.memory_bytes.reset();
    }
  }
  return out;
}

RootFilesystem root_of(const ImageRow* image) {
  if (image == nullptr || image->root == ImageRow::Root::Host) return {};
  const auto kind = image->root == ImageRow::Root::Directory ? RootFilesystem::Kind::Directory
                                                             : RootFilesystem::Kind::DirectoryOver;
  return {.kind = kind, .directory = image->directory};
}

void add_gpus(std::map<std::string, std::string>& environment, const ContainerInput& input) {
  if (!input.gpus.empty()) {
    // By UUID: an index would mean another card in another process.
    const auto list = join(input.gpus, ",");
    environment["CUDA_VISIBLE_DEVICES"] = list;
    environment["NVIDIA_VISIBLE_DEVICES"] = list;
  } else if (!input.options.gpu_uuids.empty()) {
    // Who asked for none gets none: the cards belong to others.
    environment.try_emplace("CUDA_VISIBLE_DEVICES", "");
    environment.try_emplace("NVIDIA_VISIBLE_DEVICES", "void");
  }
  // NCCL maps the memory of other GPUs of what it takes for one machine, and fails where it cannot
  // open them: a pod with GPUs of its own, which sees no others, is a machine to it. Without them
  // pods share a machine, whatever their host names are.
  environment.try_emplace("NCCL_HOSTID",
                          input.gpus.empty() ? input.options.name : api::uid_of(input.pod));
}

// Only files of what was assigned to this container: the others belong to somebody else.
std::vector<std::string> devices_of(const ContainerInput& input) {
  if (!wants_device_files(input.container)) return {};
  std::vector<int> numbers;
  for (const auto& uuid : input.gpus) {
    const auto found = input.options.gpu_numbers.find(uuid);
    if (found != input.options.gpu_numbers.end()) numbers.push_back(found->second);
  }
  return device_files(input.container, numbers, list_device_files());
}

constexpr std::string_view kOwnDirectory = "/tmp/";

// A pod's /tmp is its own, but what its PATH names may lie in the host's: a checkout under /tmp,
// say. Those directories are shown, read-only; a volume on the same path wins.
void show_search_path(ContainerSpec& spec, const std::map<std::string, std::string>& environment,
                      const NodeOptions& options) {
  std::vector<Mount> shown;
  for (const auto* variable : {"PATH", "LD_LIBRARY_PATH", "PYTHONPATH"}) {
    const auto found = environment.find(variable);
    if (found == environment.end()) continue;
    for (const auto part : split(found->second, ':')) {
      const std::string directory(part);
      if (!directory.starts_with(kOwnDirectory)) continue;
      // What somebody wrote into a pod never leads into the home, by no way.
      auto real = directory_outside(directory, options.home);
      if (!real) continue;
      shown.push_back({.source = std::move(*real), .target = directory, .read_only = true});
    }
  }
  spec.mounts.insert(spec.mounts.begin(), shown.begin(), shown.end());
}

// The submitter's directory is there with what is in it, wherever it lies, and may be written to
// like all else: what of it is in /tmp or on another file system gets a layer of its own.
void show_submitter_directory(ContainerSpec& spec, const std::string& directory,
                              const NodeOptions& options) {
  struct stat here{};
  struct stat root{};
  auto real = directory_outside(directory, options.home);
  if (!real || ::stat(real->c_str(), &here) != 0 || ::stat("/", &root) != 0) return;
  if (!directory.starts_with(kOwnDirectory) && here.st_dev == root.st_dev) return;
  spec.mounts.insert(
      spec.mounts.begin(),
      {.source = std::move(*real), .target = directory, .read_only = true, .copy_on_write = true});
}

// Before the pod's own mounts, which may cover it.
Result<void> show_agent(ContainerSpec& spec, const NodeOptions& options) {
  if (!options.agent_program.empty()) {
    auto program = real_path(options.agent_program).value_or(options.agent_program);
    spec.mounts.insert(spec.mounts.begin(),
                       {.source = std::move(program), .target = kAgentPath, .read_only = true});
  } else if (!spec.argv.empty() && spec.argv.front() == kAgentPath) {
    return fail(ErrorCode::Invalid,
                fmt::format("this node has no {}: muster-agent is not beside its muster program",
                            kAgentPath));
  }
  return {};
}

}  // namespace

std::string hostname_of(const json::Value& pod) {
  auto name = pod["spec"]["hostname"].as_string();
  if (name.empty()) name = api::name_of(pod);
  constexpr std::size_t kMaxHostname = 63;
  if (name.size() > kMaxHostname) {
    name.resize(kMaxHostname);
    while (!name.empty() && (name.back() == '-' || name.back() == '.')) name.pop_back();
  }
  return name;
}

std::string own_hostname(const json::Value& pod, const NodeOptions& options) {
  const auto& spec = pod["spec"];
  if (!spec["hostnameOverride"].as_string().empty()) return spec["hostnameOverride"].as_string();
  if (spec["hostNetwork"].as_bool() && !options.host_name.empty()) return options.host_name;
  const auto& subdomain = spec["subdomain"].as_string();
  if (!spec["setHostnameAsFQDN"].as_bool() || subdomain.empty()) return hostname_of(pod);
  return fmt::format("{}.{}.{}.svc.{}", hostname_of(pod), subdomain, api::namespace_of(pod),
                     options.cluster_domain);
}

SandboxSpec sandbox_spec(const json::Value& pod, const NodeOptions& options,
                         std::string hosts_file) {
  return {.pod_uid = api::uid_of(pod),
          .pod_namespace = api::namespace_of(pod),
          .pod_name = api::name_of(pod),
          .hostname = own_hostname(pod, options),
          .host_network = pod["spec"]["hostNetwork"].as_bool(),
          .shm_key = api::label_of(pod, kJobUidLabel),
          .hosts_file = std::move(hosts_file),
          .limits = pod_limits(pod),
          .host_ipc = pod["spec"]["hostIPC"].as_bool(),
          .sysctls = sysctls_of(pod)};
}

Result<ContainerSpec> container_spec(const ContainerInput& input) {
  const auto& links = input.pod["spec"]["enableServiceLinks"];
  const bool in_host_network = input.pod["spec"]["hostNetwork"].as_bool();
  const auto met = in_host_network && input.options.api_of_host
                       ? services_of_host(input.services, *input.options.api_of_host)
                       : input.services;
  const auto services =
      service_environment(met, api::namespace_of(input.pod), links.is_null() || links.as_bool());
  auto command = TRY(command_line({.environment = {.pod = input.pod,
                                                   .container = input.container,
                                                   .place = input.place,
                                                   .services = services,
                                                   .lookup = input.lookup},
                                   .options = input.options,
                                   .hostname = own_hostname(input.pod, input.options)}));
  add_gpus(command.environment, input);
  ContainerSpec out{.name = input.container["name"].as_string(),
                    .attempt = input.attempt,
                    .argv = std::move(command.words),
                    .cwd = command.working_directory,
                    .root = root_of(command.image)};
  out.mounts = TRY(container_mounts(input.container, input.volumes, command.environment));
  if (out.root.kind != RootFilesystem::Kind::Directory) {
    show_search_path(out, command.environment, input.options);
    show_submitter_directory(out, command.submitter_directory, input.options);
  }
  TRY(show_agent(out, input.options));
  for (auto& [name, value] : command.environment) out.env.emplace_back(name, value);
  out.limits = limits_of(input.container);
  const auto& message_path = input.container["terminationMessagePath"].as_string();
  if (!message_path.empty()) out.termination_message_path = message_path;
  TRY(add_security(out, input.pod, input.container));
  out.devices = devices_of(input);
  return out;
}

Result<ContainerSpec> container_spec(const ContainerWork& work) {
  const auto find = lookup_in(work.objects);
  const auto& spec = (*work.pod)["spec"];
  const auto* container = api::find_named(spec["containers"], work.container);
  if (container == nullptr) container = api::find_named(spec["initContainers"], work.container);
  if (container == nullptr) {
    return fail(ErrorCode::NotFound, "the pod has no container \"" + work.container + "\"");
  }
  return container_spec(ContainerInput{.pod = *work.pod,
                                       .container = *container,
                                       .attempt = work.attempt,
                                       .place = work.place,
                                       .options = work.options,
                                       .services = work.services,
                                       .lookup = find,
                                       .volumes = work.volumes,
                                       .gpus = work.gpus});
}

}  // namespace muster::node
