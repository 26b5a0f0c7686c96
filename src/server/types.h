#pragma once

#include <memory>
#include <optional>
#include <string>

#include "api/requests.h"
#include "api/resource.h"
#include "base/error.h"
#include "rt/remote_program.h"
#include "rt/source.h"
#include "rt/task.h"

// What goes in and out of the API server core. The HTTP front and cluster/local both speak this.
namespace muster::server {

using api::DeleteOptions;
using api::EventType;
using api::ExecOptions;
using api::ListOptions;
using api::ListPage;
using api::LogOptions;
using api::ObjectKey;
using api::ObjectPtr;
using api::Propagation;
using api::Selection;
using api::Token;
using api::TokenRequest;
using api::WatchEvent;
using api::WatchOptions;

// Whether a write is stored, or only checked and answered (dryRun=All).
enum class Mode { Store, DryRun };

// Chunks of log text; nothing at the end.
using LogStream = rt::Source<std::optional<std::string>>;

// Where the logs of a pod are read from; the node agent implements it.
class LogSource {
 public:
  virtual ~LogSource() = default;
  // `options.container` is set.
  virtual Task<Result<std::unique_ptr<LogStream>>> open(ObjectPtr pod, LogOptions options) = 0;
};

// Where programs are run inside a pod's containers; the node agent implements it.
class ProgramSource {
 public:
  virtual ~ProgramSource() = default;
  // `options.container` is set and runs, as far as the API knows.
  virtual Task<Result<std::unique_ptr<rt::RemoteProgram>>> open(ObjectPtr pod,
                                                                ExecOptions options) = 0;
};

}  // namespace muster::server
