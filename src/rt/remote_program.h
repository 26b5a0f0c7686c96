#pragma once

#include <string>
#include <variant>

#include "base/error.h"
#include "rt/task.h"

namespace muster::rt {

struct WindowSize {
  int columns = 0;
  int rows = 0;
  friend bool operator==(const WindowSize&, const WindowSize&) = default;
};

struct ProgramOutput {
  enum class Stream { Stdout, Stderr };  // a program with a terminal has only Stdout
  Stream stream = Stream::Stdout;
  std::string bytes;
};

struct ProgramExit {
  int code = 0;  // 128 + signal for one that was killed
};

// A program that runs somewhere else and whose standard streams are here. One task asks for what
// comes out of it, another gives what goes in; they may wait at the same time. Destroying it ends
// the program.
class RemoteProgram {
 public:
  using Event = std::variant<ProgramOutput, ProgramExit>;

  RemoteProgram() = default;
  RemoteProgram(const RemoteProgram&) = delete;
  RemoteProgram& operator=(const RemoteProgram&) = delete;
  virtual ~RemoteProgram() = default;

  // Output as it comes, then the exit, then nothing more may be asked. An error: it is not known
  // how the program ended. Who does not ask slows the program down.
  virtual Task<Result<Event>> next() = 0;
  // Waits while the program does not read. What comes after its end is dropped.
  virtual Task<Result<void>> write(std::string bytes) = 0;
  // The program has read all of its input once it has read what was written.
  virtual Task<Result<void>> end_input() = 0;
  // Does nothing for a program without a terminal.
  virtual Task<Result<void>> resize(WindowSize size) = 0;
};

}  // namespace muster::rt
