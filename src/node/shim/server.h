#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/fd.h"
#include "node/shim/container.h"
#include "node/shim/pod.h"
#include "node/shim/protocol.h"
#include "node/shim/services.h"
#include "node/shim/session/session.h"

namespace muster::node::shim {

// The shim's life after the set-up: answers requests on the pod's socket, writes logs, reaps and
// records. One thread, one poll loop. Never waits for Muster: an answer that nobody fetches is
// dropped with its connection. Ends with a Shutdown request.
class Server {
 public:
  Server(Pod pod, ServiceTable services, std::string directory, Fd listener, Fd signals)
      : pod_(std::move(pod)),
        services_(std::move(services)),
        directory_(std::move(directory)),
        listener_(std::move(listener)),
        signals_(std::move(signals)) {}
  void run();

 private:
  using ClientId = std::uint64_t;
  struct Client {
    Fd fd;
    std::string in;
    std::string out;
    bool asked = false;  // one request a connection
    bool waits = false;  // after the start's answer for the container's end
    int version = 0;     // that it asked in
  };
  struct ExecJob {
    ClientId client = 0;
    int pid = 0;
    Fd output;
    std::string tail;
    std::chrono::steady_clock::time_point deadline;
    bool timed_out = false;
  };

  void poll_once();
  void accept_clients();
  void serve(ClientId id, short events);
  void handle(ClientId id, const std::string& request);
  void reap();
  void settle();
  void end_late_execs();
  void kill_hung_up();
  void poll_sessions(const std::function<void(int, short, std::function<void(short)>)>& watch);
  void on_session_bytes(ClientId id);
  void forward_output(ClientId id);
  void hang_up(ClientId id);
  bool reap_session(int pid, int status);
  [[nodiscard]] int timeout() const;

  void start(ClientId id, Reader& in);
  void wait(ClientId id, Reader& in);
  void signal(ClientId id, Reader& in);
  void kill_container(ClientId id, Reader& in);
  void exec(ClientId id, Reader& in);
  void open_session(ClientId id, Reader& in);
  void set_services(ClientId id, Reader& in);
  void list(ClientId id);

  void answer(ClientId id, const std::string& payload);
  void answer_error(ClientId id, ErrorCode code, std::string message);
  void answer_result(ClientId id, const Result<void>& result);
  void answer_start(ClientId id, const ContainerId& container, const ContainerStart& start);
  void answer_failed(ClientId id, const FailureRecord& failure);
  void await_exit(ClientId id, const ContainerId& container);
  void answer_from_record(ClientId id, const ContainerId& container);
  void flush(Client& client);
  void read_exec(ExecJob& job);

  Container* find(const ContainerId& id);
  Container* find_running(const std::string& name);

  Pod pod_;
  ServiceTable services_;
  std::string directory_;
  Fd listener_;
  Fd signals_;
  ClientId last_client_ = 0;
  std::map<ClientId, Client> clients_;
  std::map<ContainerId, std::unique_ptr<Container>> containers_;
  std::vector<ExecJob> execs_;
  std::map<ClientId, std::unique_ptr<Session>> sessions_;
  std::vector<std::unique_ptr<Session>> hung_up_;  // their clients are gone
  ClientId shutdown_for_ = 0;                      // who asked for the end
  bool done_ = false;
};

}  // namespace muster::node::shim
