#include "node/shim/protocol.h"

#include "node/shim/rights/capabilities.h"

namespace muster::node::shim {

namespace {

void write_time(Writer& out, Time time) {
  out.number(time.time_since_epoch().count());
}
Time read_time(Reader& in) {
  return Time(std::chrono::nanoseconds(in.number()));
}

void write_optional(Writer& out, std::optional<std::int64_t> value) {
  out.number(value.has_value() ? 1 : 0).number(value.value_or(0));
}
std::optional<std::int64_t> read_optional(Reader& in) {
  const bool present = in.number() != 0;
  const auto value = in.number();
  return present ? std::optional(value) : std::nullopt;
}

void write(Writer& out, const ResourceLimits& value) {
  write_optional(out, value.cpu_milli);
  write_optional(out, value.memory_bytes);
  write_optional(out, value.cpu_request_milli);
}
void read(Reader& in, ResourceLimits& value) {
  value.cpu_milli = read_optional(in);
  value.memory_bytes = read_optional(in);
  value.cpu_request_milli = read_optional(in);
}

using Pairs = std::vector<std::pair<std::string, std::string>>;

void write_pairs(Writer& out, const Pairs& pairs) {
  out.number(static_cast<std::int64_t>(pairs.size()));
  for (const auto& [name, value] : pairs) out.text(name).text(value);
}
void read_pairs(Reader& in, Pairs& pairs) {
  const auto count = in.count();
  for (std::size_t i = 0; i < count && in.ok(); ++i) {
    auto name = in.text();
    pairs.emplace_back(std::move(name), in.text());
  }
}

template <class Enum>
Enum read_enum(Reader& in, Enum last) {
  const auto value = in.number();
  return value >= 0 && value <= static_cast<std::int64_t>(last) ? static_cast<Enum>(value) : Enum{};
}

std::optional<std::int64_t> widen(std::optional<std::uint32_t> value) {
  return value ? std::optional<std::int64_t>(*value) : std::nullopt;
}
std::optional<std::uint32_t> narrow(std::optional<std::int64_t> value) {
  return value ? std::optional(static_cast<std::uint32_t>(*value)) : std::nullopt;
}

}  // namespace

Writer request(Operation operation, int version) {
  Writer out(version);
  out.number(static_cast<std::int64_t>(operation));
  return out;
}

void write(Writer& out, const SandboxRecord& value) {
  const auto& spec = value.spec;
  out.text(spec.pod_uid).text(spec.pod_namespace).text(spec.pod_name).text(spec.hostname);
  out.number(spec.host_network ? 1 : 0).text(spec.shm_key).text(spec.hosts_file);
  write(out, spec.limits);
  out.text(value.address).text(value.gateway).number(value.prefix).text(value.bridge);
  out.text(value.link).text(value.service_range);
  out.number(static_cast<std::int64_t>(value.cgroups.version));
  out.text(value.cgroups.memory).text(value.cgroups.cpu);
  out.text(value.log_directory).number(static_cast<std::int64_t>(value.log_quota));
  out.text(value.hidden).text(value.shm_directory);
  if (out.version() < 2) return;
  out.text(value.cgroups.pids).number(spec.host_ipc ? 1 : 0);
  write_pairs(out, spec.sysctls);
}

void read(Reader& in, SandboxRecord& value) {
  auto& spec = value.spec;
  spec.pod_uid = in.text();
  spec.pod_namespace = in.text();
  spec.pod_name = in.text();
  spec.hostname = in.text();
  spec.host_network = in.number() != 0;
  spec.shm_key = in.text();
  spec.hosts_file = in.text();
  read(in, spec.limits);
  value.address = in.text();
  value.gateway = in.text();
  value.prefix = static_cast<int>(in.number());
  value.bridge = in.text();
  value.link = in.text();
  value.service_range = in.text();
  value.cgroups.version = read_enum(in, linux::CgroupRoots::Version::V2);
  value.cgroups.memory = in.text();
  value.cgroups.cpu = in.text();
  value.log_directory = in.text();
  value.log_quota = static_cast<std::uint64_t>(in.number());
  value.hidden = in.text();
  value.shm_directory = in.text();
  if (in.version() < 2) return;
  value.cgroups.pids = in.text();
  spec.host_ipc = in.number() != 0;
  read_pairs(in, spec.sysctls);
}

void write(Writer& out, const linux::ProcessIdentity& value) {
  out.number(value.pid).number(static_cast<std::int64_t>(value.start_time)).text(value.boot_id);
}
void read(Reader& in, linux::ProcessIdentity& value) {
  value.pid = static_cast<int>(in.number());
  value.start_time = static_cast<std::uint64_t>(in.number());
  value.boot_id = in.text();
}

void write(Writer& out, const StartRecord& value) {
  write(out, value.process);
  write_time(out, value.started);
}
void read(Reader& in, StartRecord& value) {
  read(in, value.process);
  value.started = read_time(in);
}

void write(Writer& out, const FailureRecord& value) {
  out.number(static_cast<std::int64_t>(value.failure)).text(value.message);
}
void read(Reader& in, FailureRecord& value) {
  value.failure = read_enum(in, StartFailure::Configuration);
  value.message = in.text();
}

void write(Writer& out, const ContainerExit& value) {
  out.number(value.exit_code).number(value.signal).number(value.oom_killed ? 1 : 0);
  out.number(value.unknown ? 1 : 0);
  write_time(out, value.started);
  write_time(out, value.finished);
  out.text(value.termination_message);
}
void read(Reader& in, ContainerExit& value) {
  value.exit_code = static_cast<int>(in.number());
  value.signal = static_cast<int>(in.number());
  value.oom_killed = in.number() != 0;
  value.unknown = in.number() != 0;
  value.started = read_time(in);
  value.finished = read_time(in);
  value.termination_message = in.text();
}

void write(Writer& out, const Mount& value) {
  // Older shims know only one path.
  const bool one = out.version() < 2 && !value.below.empty();
  const auto source = one ? value.source + "/" + value.below : value.source;
  out.number(static_cast<std::int64_t>(value.kind)).text(source).text(value.target);
  // Older shims read a size, which means nothing to them here, and mount it read-only.
  const auto last = value.kind == Mount::Kind::Tmpfs ? value.size : value.copy_on_write ? 1U : 0U;
  out.number(value.read_only ? 1 : 0).number(static_cast<std::int64_t>(last));
  if (out.version() >= 2) out.text(value.below);
}
void read(Reader& in, Mount& value) {
  value.kind = in.number() == 0 ? Mount::Kind::Bind : Mount::Kind::Tmpfs;
  value.source = in.text();
  value.target = in.text();
  value.read_only = in.number() != 0;
  const auto last = in.number();
  if (value.kind == Mount::Kind::Tmpfs) value.size = static_cast<std::uint64_t>(last);
  value.copy_on_write = value.kind == Mount::Kind::Bind && last != 0;
  if (in.version() >= 2) value.below = in.text();
}

void write(Writer& out, const ContainerSpec& value) {
  out.text(value.name).number(value.attempt).texts(value.argv);
  write_pairs(out, value.env);
  out.text(value.cwd).number(static_cast<std::int64_t>(value.root.kind)).text(value.root.directory);
  write_all(out, value.mounts);
  write(out, value.limits);
  out.text(value.termination_message_path);
  write_optional(out, widen(value.uid));
  write_optional(out, widen(value.gid));
  out.number(static_cast<std::int64_t>(value.supplementary_groups.size()));
  for (const auto group : value.supplementary_groups) out.number(group);
  out.number(value.no_new_privileges ? 1 : 0);
  if (out.version() < 2) return;
  write_optional(out, value.capabilities
                          ? std::optional(static_cast<std::int64_t>(*value.capabilities))
                          : std::nullopt);
  out.number(value.privileged ? 1 : 0).number(value.read_only_root ? 1 : 0);
  out.number(value.unmasked_proc ? 1 : 0).number(static_cast<std::int64_t>(value.seccomp));
  out.texts(value.devices);
}

void read(Reader& in, ContainerSpec& value) {
  value.name = in.text();
  value.attempt = static_cast<int>(in.number());
  value.argv = in.texts();
  read_pairs(in, value.env);
  value.cwd = in.text();
  value.root.kind = read_enum(in, RootFilesystem::Kind::DirectoryOver);
  value.root.directory = in.text();
  read_all(in, value.mounts);
  read(in, value.limits);
  value.termination_message_path = in.text();
  value.uid = narrow(read_optional(in));
  value.gid = narrow(read_optional(in));
  const auto groups = in.count();
  for (std::size_t i = 0; i < groups && in.ok(); ++i) {
    value.supplementary_groups.push_back(static_cast<std::uint32_t>(in.number()));
  }
  value.no_new_privileges = in.number() != 0;
  if (in.version() < 2) return;
  if (const auto rights = read_optional(in))
    value.capabilities = static_cast<std::uint64_t>(*rights);
  value.privileged = in.number() != 0;
  value.read_only_root = in.number() != 0;
  value.unmasked_proc = in.number() != 0;
  value.seccomp = read_enum(in, ContainerSpec::Seccomp::RuntimeDefault);
  value.devices = in.texts();
}

ContainerSpec without_values(ContainerSpec spec) {
  spec.env.clear();
  spec.argv.clear();  // $(NAME) in them was replaced
  return spec;
}

std::string beyond_version(const ContainerSpec& spec, int version) {
  if (version >= 2) return {};
  if (spec.privileged) return "securityContext.privileged";
  if (spec.capabilities && *spec.capabilities != kUsualRights)
    return "securityContext.capabilities";
  if (spec.read_only_root) return "securityContext.readOnlyRootFilesystem";
  if (spec.seccomp != ContainerSpec::Seccomp::Unconfined) return "securityContext.seccompProfile";
  return {};
}

void write(Writer& out, const ServiceRule& value) {
  out.number(static_cast<std::int64_t>(value.protocol)).text(value.cluster_ip).number(value.port);
  out.number(static_cast<std::int64_t>(value.endpoints.size()));
  for (const auto& endpoint : value.endpoints) out.text(endpoint.address).number(endpoint.port);
}
void read(Reader& in, ServiceRule& value) {
  value.protocol = read_enum(in, ServiceRule::Protocol::Udp);
  value.cluster_ip = in.text();
  value.port = static_cast<std::uint16_t>(in.number());
  const auto endpoints = in.count();
  for (std::size_t i = 0; i < endpoints && in.ok(); ++i) {
    auto& endpoint = value.endpoints.emplace_back();
    endpoint.address = in.text();
    endpoint.port = static_cast<std::uint16_t>(in.number());
  }
}

void write(Writer& out, const AdoptedContainer& value) {
  out.text(value.name).number(value.attempt).number(value.start.pid);
  write_time(out, value.start.started);
  out.text(value.start.log_path).number(value.exit ? 1 : 0);
  if (value.exit) write(out, *value.exit);
}
void read(Reader& in, AdoptedContainer& value) {
  value.name = in.text();
  value.attempt = static_cast<int>(in.number());
  value.start.pid = static_cast<int>(in.number());
  value.start.started = read_time(in);
  value.start.log_path = in.text();
  if (in.number() != 0) read(in, value.exit.emplace());
}

void write(Writer& out, const ExecResult& value) {
  out.number(value.exit_code).number(value.timed_out ? 1 : 0).text(value.output);
}
void read(Reader& in, ExecResult& value) {
  value.exit_code = static_cast<int>(in.number());
  value.timed_out = in.number() != 0;
  value.output = in.text();
}

void write(Writer& out, const SessionSpec& value) {
  out.text(value.container).texts(value.argv).number(value.terminal ? 1 : 0);
  out.number(value.input ? 1 : 0).number(value.output ? 1 : 0).number(value.error ? 1 : 0);
}
void read(Reader& in, SessionSpec& value) {
  value.container = in.text();
  value.argv = in.texts();
  value.terminal = in.number() != 0;
  value.input = in.number() != 0;
  value.output = in.number() != 0;
  value.error = in.number() != 0;
}

std::string session_frame(SessionFrame kind, std::string_view bytes) {
  std::string payload(1, static_cast<char>(kind));
  return frame(payload.append(bytes));
}

std::string answer_error(const Error& error) {
  Writer out;
  out.number(static_cast<std::int64_t>(error.code) + 1).text(error.message);
  return out.bytes();
}

Result<void> read_answer(Reader& in) {
  const auto status = in.number();
  if (!in.ok()) return fail(ErrorCode::Parse, "an answer of the shim without a status");
  if (status == 0) return {};
  const auto last = static_cast<std::int64_t>(ErrorCode::Parse) + 1;
  const auto code =
      status > 0 && status <= last ? static_cast<ErrorCode>(status - 1) : ErrorCode::Internal;
  return fail(code, in.text());
}

}  // namespace muster::node::shim
