#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cluster/kube/access/exec_runner.h"

namespace muster::cluster::kube {

// Plugins as functions of how often they were run.
class ScriptedRunner final : public ExecRunner {
 public:
  struct Seen {
    std::vector<rt::ChildProgram> runs;
    Terminal terminal = Terminal::Absent;
    Duration takes{};
  };
  using Script = std::function<Result<rt::ChildAnswer>(int number)>;

  ScriptedRunner(rt::Loop& loop, Seen& seen, Script script)
      : loop_(loop), seen_(seen), script_(std::move(script)) {}

  [[nodiscard]] Terminal terminal() const override { return seen_.terminal; }
  Task<Result<rt::ChildAnswer>> run(rt::ChildProgram program) override {
    seen_.runs.push_back(std::move(program));
    const int number = static_cast<int>(seen_.runs.size());
    CO_TRY(co_await rt::sleep_for(loop_, seen_.takes));
    co_return script_(number);
  }

 private:
  rt::Loop& loop_;
  Seen& seen_;
  Script script_;
};

inline constexpr const char* kExecV1 = "client.authentication.k8s.io/v1";

inline std::string exec_credential(const std::string& status) {
  return std::string(R"({"kind":"ExecCredential","apiVersion":")") + kExecV1 + R"(","status":)" +
         status + "}";
}

}  // namespace muster::cluster::kube
