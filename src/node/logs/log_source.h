#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/error.h"
#include "cluster/cluster.h"
#include "json/value.h"
#include "node/logs/cri_log.h"
#include "node/logs/log_file.h"
#include "node/runtime/runtime.h"
#include "rt/loop.h"
#include "rt/task.h"

namespace muster::node {

// A reader of one container's log file. Follows it (through its rotation) until the container has
// ended and everything was read. Holds one chunk of at most 64 KiB.
class FileLogStream final : public cluster::LogStream {
 public:
  // `ended` says that nothing will be written any more.
  FileLogStream(rt::Loop& loop, std::string path, const cluster::LogOptions& options,
                std::function<bool()> ended);
  Task<Result<std::optional<std::string>>> next() override;

 private:
  rt::Loop& loop_;
  bool follow_;
  std::function<bool()> ended_;
  LogFile file_;
  CriLogDecoder decoder_;
  std::optional<Error> failure_;
  bool over_ = false;
};

// Container logs of this node. Lives on the agent's loop.
class LogSource {
 public:
  LogSource(rt::Loop& loop, const Runtime& runtime) : loop_(loop), runtime_(runtime) {}

  // Of a pod as the API shows it. BadRequest names the containers when none was chosen and there
  // are several, or when it has not started yet.
  Result<std::unique_ptr<cluster::LogStream>> open(std::function<api::ObjectPtr()> pod,
                                                   const cluster::LogOptions& options);

 private:
  rt::Loop& loop_;
  const Runtime& runtime_;
};

}  // namespace muster::node
