#include "node/exec/program_source.h"

#include "api/exec.h"

namespace muster::node {

Task<Result<std::unique_ptr<rt::RemoteProgram>>> ProgramSource::open(api::ObjectPtr pod,
                                                                     api::ExecOptions options) {
  SessionSpec spec{.container = CO_TRY(api::exec_container(*pod, options.container)),
                   .argv = std::move(options.command),
                   .terminal = options.terminal,
                   .input = options.input,
                   .output = options.output,
                   .error = options.error};
  auto program = co_await runtime_.open_session(api::uid_of(*pod), std::move(spec));
  // It ended a moment ago, and the API does not know it yet.
  const bool ended = !program && (program.error().code == ErrorCode::NotFound ||
                                  program.error().code == ErrorCode::Gone);
  if (ended) co_return fail(ErrorCode::BadRequest, program.error().message);
  co_return program;
}

}  // namespace muster::node
