#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "node/linux/cgroup.h"
#include "node/linux/process.h"
#include "node/runtime/types.h"
#include "node/shim/wire.h"

// What Muster and a shim say to each other, and what the files in a pod's directory hold: `sandbox`
// a SandboxRecord, `shim` the ProcessIdentity of the shim, and those of containers as below.
namespace muster::node::shim {

// <uid>/sandbox: all that a shim needs to set its pod up.
struct SandboxRecord {
  SandboxSpec spec;
  std::string address;
  std::string gateway;
  int prefix = 0;
  std::string bridge;
  std::string link;  // the host's end of the pod's NIC
  std::string service_range;
  linux::CgroupRoots cgroups;
  std::string log_directory;  // of this pod
  std::uint64_t log_quota = 0;
  std::string hidden;         // a directory of the host that containers see empty
  std::string shm_directory;  // bound at /dev/shm
};

// <uid>/containers/<name>/<attempt>/intent: what may be known of a container after its end.
// Environment and arguments, which hold the values of Secrets, are in no file.
ContainerSpec without_values(ContainerSpec spec);

// What the container asks for and a shim of that version cannot do, by the name of the field of a
// pod; empty: nothing.
std::string beyond_version(const ContainerSpec& spec, int version);

// <uid>/containers/<name>/<attempt>/started
struct StartRecord {
  linux::ProcessIdentity process;
  Time started{};
};

// …/failed: it could not be executed, and never will be under this attempt.
struct FailureRecord {
  StartFailure failure = StartFailure::Configuration;
  std::string message;
};

enum class Operation : std::int64_t {
  Start = 1,
  Wait,
  Signal,
  KillContainer,
  Exec,
  SetServices,
  Kill,
  Shutdown,
  List,
  Session,
  Run,  // Start with Wait behind it, on one connection: two answers
};

// Once a Session request was answered with success, its connection carries the program's streams
// until either end closes it: frames whose first byte says what they are.
enum class SessionFrame : char {
  Input = 'i',     // to the shim
  EndInput = 'e',  // to the shim
  Resize = 'w',    // to the shim: columns, rows
  Output = 'o',
  ErrorOutput = 'r',
  Exit = 'x',  // the last one: the exit code
};
std::string session_frame(SessionFrame kind, std::string_view bytes);

// A request's beginning; what the operation needs follows.
Writer request(Operation operation, int version = kWireVersion);

struct ContainerId {
  std::string name;
  int attempt = 0;
  friend auto operator<=>(const ContainerId&, const ContainerId&) = default;
};

void write(Writer& out, const SandboxRecord& value);
void write(Writer& out, const linux::ProcessIdentity& value);
void write(Writer& out, const StartRecord& value);
void write(Writer& out, const FailureRecord& value);
void write(Writer& out, const ContainerExit& value);
void write(Writer& out, const Mount& value);
void write(Writer& out, const ContainerSpec& value);
void write(Writer& out, const ServiceRule& value);
void write(Writer& out, const AdoptedContainer& value);
void write(Writer& out, const ExecResult& value);
void write(Writer& out, const SessionSpec& value);

void read(Reader& in, SandboxRecord& value);
void read(Reader& in, linux::ProcessIdentity& value);
void read(Reader& in, StartRecord& value);
void read(Reader& in, FailureRecord& value);
void read(Reader& in, ContainerExit& value);
void read(Reader& in, Mount& value);
void read(Reader& in, ContainerSpec& value);
void read(Reader& in, ServiceRule& value);
void read(Reader& in, AdoptedContainer& value);
void read(Reader& in, ExecResult& value);
void read(Reader& in, SessionSpec& value);

// A record: the value with our version in front. Of an answer, decode() takes what is left of it.
template <class T>
std::string encode(const T& value) {
  Writer out;
  write(out, value);
  return with_version(out.bytes());
}

template <class T>
Result<T> decode(std::string_view bytes) {
  const int version = TRY(take_known_version(bytes));
  Reader in(bytes, version);
  T value;
  read(in, value);
  if (!in.finished()) return fail(ErrorCode::Parse, "a damaged record");
  return value;
}

template <class T>
void write_all(Writer& out, const std::vector<T>& values) {
  out.number(static_cast<std::int64_t>(values.size()));
  for (const auto& value : values) write(out, value);
}

template <class T>
void read_all(Reader& in, std::vector<T>& values) {
  const auto count = in.count();
  for (std::size_t i = 0; i < count && in.ok(); ++i) read(in, values.emplace_back());
}

// An answer begins with 0 for success, or with the error's code + 1 and its text.
std::string answer_error(const Error& error);
// Takes the beginning off: success, or the error that it holds.
Result<void> read_answer(Reader& in);

}  // namespace muster::node::shim
