#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "json/value.h"
#include "node/runtime/runtime.h"
#include "rt/loop.h"
#include "rt/scope.h"
#include "rt/wait.h"

namespace muster::node {

enum class ProbeKind { Startup, Liveness, Readiness };
std::string_view to_string(ProbeKind kind);

// One probe of a container as its manifest has it.
struct ProbeSpec {
  Duration initial_delay{};
  Duration period = std::chrono::seconds(10);
  Duration timeout = std::chrono::seconds(1);
  int success_threshold = 1;
  int failure_threshold = 3;
  // One of these; neither: it is enough that the port accepts connections.
  std::vector<std::string> command;
  std::optional<HttpCheck> http;
  std::string host;  // empty: the pod's
  std::uint16_t port = 0;
};
std::optional<ProbeSpec> probe_of(const json::Value& container, ProbeKind kind);

// Counts answers in a row. Gives a verdict when a threshold is reached, and again with every
// further answer that confirms it.
class ProbeCounter {
 public:
  ProbeCounter(int success_threshold, int failure_threshold)
      : success_threshold_(success_threshold), failure_threshold_(failure_threshold) {}
  std::optional<bool> add(bool success);

 private:
  int success_threshold_;
  int failure_threshold_;
  bool last_ = false;
  int in_a_row_ = 0;
};

// Whom probes ask.
struct ProbeTarget {
  std::string pod_uid;
  std::string container;
  std::string pod_ip;
};

// The probes of one run of a container. Lives on the agent's loop, from the container's start to
// its end; ends with close().
class Prober {
 public:
  struct Verdict {
    ProbeKind kind = ProbeKind::Readiness;
    bool success = false;
  };
  // Told of every verdict, and of every single answer that was not good.
  using OnVerdict = std::function<void(Verdict)>;
  using OnFailure = std::function<void(ProbeKind, const std::string& text)>;

  Prober(rt::Loop& loop, Runtime& runtime, ProbeTarget target, OnVerdict on_verdict,
         OnFailure on_failure)
      : loop_(loop),
        runtime_(runtime),
        target_(std::move(target)),
        on_verdict_(std::move(on_verdict)),
        on_failure_(std::move(on_failure)),
        scope_(loop) {}

  void start(const json::Value& container);
  void request_stop() { scope_.request_stop(); }
  Task<void> close() { return scope_.close(); }

 private:
  Task<void> startup(ProbeSpec spec);
  Task<void> repeat(ProbeKind kind, ProbeSpec spec);
  Task<Result<bool>> once(ProbeKind kind, ProbeSpec spec);
  // Empty: it is well; otherwise what is wrong. The only error is that it was cancelled.
  Task<Result<std::string>> run_command(ProbeSpec spec);
  Task<Result<std::string>> ask(ProbeSpec spec);
  Task<Result<std::string>> connect(ProbeSpec spec);
  void start_others();

  rt::Loop& loop_;
  Runtime& runtime_;
  ProbeTarget target_;
  OnVerdict on_verdict_;
  OnFailure on_failure_;
  std::optional<ProbeSpec> liveness_;
  std::optional<ProbeSpec> readiness_;
  rt::TaskScope scope_;
};

}  // namespace muster::node
