#pragma once

#include <memory>
#include <string>
#include <vector>

#include "agent/mpi/frames.h"
#include "base/error.h"
#include "net/stream.h"
#include "rt/task.h"
#include "rt/wait.h"

namespace muster::agent::mpi {

// Frames over a connection. One task receives; any number send, one after another.
class FrameChannel {
 public:
  FrameChannel(rt::RealLoop& loop, std::unique_ptr<net::Stream> stream);

  // Unavailable at the end of what the peer sends.
  Task<Result<Frame>> receive();
  Task<Result<void>> send(FrameType type, std::string payload);
  // Says that nothing more comes, and gives the peer's last bytes time: until it closes, or so
  // long.
  Task<void> finish(Duration limit);
  void close() { stream_->close(); }

 private:
  Task<Result<void>> drain();

  rt::RealLoop& loop_;
  std::unique_ptr<net::Stream> stream_;
  rt::Gate writer_;
  FrameReader reader_;
  std::vector<char> buffer_;
};

}  // namespace muster::agent::mpi
