#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

#include "node/linux/files.h"
#include "node/shim/child.h"
#include "node/shim/records.h"
#include "node/shim/server.h"

// What each request means.
namespace muster::node::shim {

void Server::handle(ClientId id, const std::string& request) {
  std::string_view bytes = request;
  const auto version = take_known_version(bytes);
  clients_.at(id).version = version.value_or(kWireVersion);
  if (!version) return answer_error(id, ErrorCode::BadRequest, version.error().message);
  Reader in(bytes, *version);
  switch (static_cast<Operation>(in.number())) {
    case Operation::Start:
      return start(id, in);
    case Operation::Run:
      clients_.at(id).waits = true;
      return start(id, in);
    case Operation::Wait:
      return wait(id, in);
    case Operation::Signal:
      return signal(id, in);
    case Operation::KillContainer:
      return kill_container(id, in);
    case Operation::Exec:
      return exec(id, in);
    case Operation::Session:
      return open_session(id, in);
    case Operation::SetServices:
      return set_services(id, in);
    case Operation::List:
      return list(id);
    case Operation::Kill:
      pod_.kill();
      return answer_result(id, {});
    case Operation::Shutdown:
      pod_.kill();
      shutdown_for_ = id;
      return;
  }
  answer_error(id, ErrorCode::BadRequest, "unknown request");
}

void Server::answer_error(ClientId id, ErrorCode code, std::string message) {
  answer(id, shim::answer_error(Error{.code = code, .message = std::move(message)}));
}

void Server::answer_result(ClientId id, const Result<void>& result) {
  answer(id, result ? Writer().number(0).bytes() : shim::answer_error(result.error()));
}

Container* Server::find(const ContainerId& id) {
  const auto found = containers_.find(id);
  return found == containers_.end() ? nullptr : found->second.get();
}

Container* Server::find_running(const std::string& name) {
  for (auto& [id, container] : containers_) {
    if (id.name == name && container->state() == Container::State::Running) return container.get();
  }
  return nullptr;
}

void Server::start(ClientId id, Reader& in) {
  ContainerSpec spec;
  read(in, spec);
  if (!in.finished() || !linux::is_safe_name(spec.name) || spec.attempt < 0 || spec.argv.empty()) {
    return answer_error(id, ErrorCode::Invalid,
                        "a container needs a name, an attempt and a command");
  }
  const ContainerId wanted{spec.name, spec.attempt};
  if (Container* known = find(wanted)) {
    known->start_waiters.push_back(id);  // settle() answers as soon as it can
    return;
  }
  const auto directory = container_directory(directory_, wanted);
  if (const auto failed = linux::read_file(directory + "/failed")) {
    return answer_failed(id, decode<FailureRecord>(*failed).value_or(FailureRecord{}));
  }
  if (const auto started = linux::read_file(directory + "/started")) {
    const auto record = decode<StartRecord>(*started);
    if (!record)
      return answer_error(id, ErrorCode::Internal,
                          "the start record of " + spec.name + " is damaged");
    return answer_start(id, wanted,
                        {.pid = record->process.pid,
                         .started = record->started,
                         .log_path = container_log(pod_.record().log_directory, wanted)});
  }
  for (const auto& [other, container] : containers_) {
    if (other.name != wanted.name) continue;
    return answer_error(id, ErrorCode::Conflict,
                        "attempt " + std::to_string(other.attempt) + " of container " + other.name +
                            " has not ended");
  }
  if (!pod_.alive() || shutdown_for_ != 0)
    return answer_error(id, ErrorCode::Gone, "the pod was killed");
  auto container = Container::launch(std::move(spec), pod_, directory_);
  if (!container) return answer(id, shim::answer_error(container.error()));
  (*container)->start_waiters.push_back(id);
  containers_.emplace(wanted, std::move(*container));
}

void Server::answer_failed(ClientId id, const FailureRecord& failure) {
  Writer out;
  out.number(0).number(0);
  write(out, failure);
  answer(id, out.bytes());
}

void Server::answer_start(ClientId id, const ContainerId& container, const ContainerStart& start) {
  Writer out;
  out.number(0).number(1).number(start.pid).number(start.started.time_since_epoch().count());
  answer(id, out.text(start.log_path).bytes());
  const auto client = clients_.find(id);
  if (client != clients_.end() && client->second.waits) await_exit(id, container);
}

void Server::await_exit(ClientId id, const ContainerId& container) {
  if (Container* running = find(container)) {
    running->exit_waiters.push_back(id);  // settle() answers
  } else {
    answer_from_record(id, container);
  }
}

void Server::answer_from_record(ClientId id, const ContainerId& container) {
  const auto directory = container_directory(directory_, container);
  const auto bytes = linux::read_file(directory + "/exit");
  if (!bytes) {
    return answer_error(id, ErrorCode::NotFound,
                        "container " + container.name + " attempt " +
                            std::to_string(container.attempt) + " was not started");
  }
  const auto exit = decode<ContainerExit>(*bytes);
  if (!exit) {
    return answer_error(id, ErrorCode::Internal,
                        "the exit record of " + container.name + ": " + exit.error().message);
  }
  Writer out;
  out.number(0);
  write(out, *exit);
  answer(id, out.bytes());
}

namespace {

ContainerId read_id(Reader& in) {
  ContainerId id{.name = in.text()};
  id.attempt = static_cast<int>(in.number());
  return id;
}

}  // namespace

void Server::wait(ClientId id, Reader& in) {
  const auto wanted = read_id(in);
  if (!in.finished() || !linux::is_safe_name(wanted.name)) {
    return answer_error(id, ErrorCode::Invalid, "wait for what?");
  }
  await_exit(id, wanted);
}

void Server::signal(ClientId id, Reader& in) {
  const auto wanted = read_id(in);
  const auto number = static_cast<int>(in.number());
  Container* container = find(wanted);
  if (!in.finished() || number < 0 || number >= NSIG) {
    return answer_error(id, ErrorCode::Invalid, "no such signal");
  }
  if (container == nullptr || container->state() != Container::State::Running) {
    return answer_error(id, ErrorCode::NotFound, "container " + wanted.name + " is not running");
  }
  // We are its parent and have not reaped it, so the number is still its own.
  ::kill(container->pid(), number);
  answer_result(id, {});
}

void Server::kill_container(ClientId id, Reader& in) {
  const auto wanted = read_id(in);
  if (Container* container = find(wanted)) container->kill();
  answer_result(id, {});
}

void Server::exec(ClientId id, Reader& in) {
  const auto name = in.text();
  const auto argv = in.texts();
  const auto limit = std::chrono::milliseconds(in.number());
  if (!in.finished() || argv.empty())
    return answer_error(id, ErrorCode::Invalid, "exec needs a command");
  Container* container = find_running(name);
  if (container == nullptr)
    return answer_error(id, ErrorCode::NotFound, "container " + name + " is not running");
  const Fd process(static_cast<int>(::syscall(SYS_pidfd_open, container->pid(), 0U)));
  if (!process.valid())
    return answer_error(id, ErrorCode::NotFound, "container " + name + " has ended");
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return answer_result(id, fail_errno("pipe"));
  Fd read_end(ends[0]);
  const Fd write_end(ends[1]);
  ::fcntl(read_end.get(), F_SETFL, O_NONBLOCK);
  const int pid = ::fork();
  if (pid < 0) return answer_result(id, fail_errno("fork"));
  if (pid == 0) {
    run_exec({.spec = container->spec(),
              .argv = argv,
              .cgroup = container->cgroup(),
              .container = process.get(),
              .output = write_end.get(),
              .error = write_end.get()});
  }
  execs_.push_back({.client = id,
                    .pid = pid,
                    .output = std::move(read_end),
                    .deadline = std::chrono::steady_clock::now() + limit});
}

void Server::set_services(ClientId id, Reader& in) {
  std::vector<ServiceRule> rules;
  read_all(in, rules);
  if (!in.finished()) return answer_error(id, ErrorCode::Invalid, "damaged service rules");
  if (pod_.record().spec.host_network) return answer_result(id, {});
  answer_result(id, services_.replace(rules, pod_.record().service_range));
}

void Server::list(ClientId id) {
  Writer out;
  out.number(0);
  write_all(out, read_containers(directory_, pod_.record().log_directory));
  answer(id, out.bytes());
}

}  // namespace muster::node::shim
