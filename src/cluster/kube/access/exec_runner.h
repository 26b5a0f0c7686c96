#pragma once

#include "base/error.h"
#include "cluster/kube/access/exec_credential.h"
#include "rt/child_program.h"
#include "rt/task.h"

namespace muster::cluster::kube {

// Where plugins run: on this machine, or in a script of a test.
class ExecRunner {
 public:
  virtual ~ExecRunner() = default;
  // Whether somebody sits at our standard input.
  [[nodiscard]] virtual Terminal terminal() const = 0;
  virtual Task<Result<rt::ChildAnswer>> run(rt::ChildProgram program) = 0;
};

class HostExecRunner final : public ExecRunner {
 public:
  explicit HostExecRunner(rt::RealLoop& loop) : loop_(loop) {}
  [[nodiscard]] Terminal terminal() const override;
  Task<Result<rt::ChildAnswer>> run(rt::ChildProgram program) override {
    return rt::run_child(loop_, std::move(program));
  }

 private:
  rt::RealLoop& loop_;
};

// Runs a plugin and reads what it says; what it is made of outlives the call. Every error names the
// user entry and the program. What the plugin has to say to people goes to standard error by
// itself.
Task<Result<ExecCredential>> ask_plugin(rt::Loop& loop, ExecRunner& runner,
                                        const ExecPlugin& plugin);

}  // namespace muster::cluster::kube
