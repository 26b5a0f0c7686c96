#pragma once

#include <array>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/fd.h"
#include "node/runtime/types.h"
#include "node/shim/container.h"

namespace muster::node::shim {

// A program in a running container whose streams somebody outside holds. Lives in the shim's only
// thread and is driven by it, like a container. Nothing of it is on record: when whoever asked for
// it goes, it is hung up, and killed when that does not end it.
class Session {
 public:
  static Result<std::unique_ptr<Session>> launch(const Container& container,
                                                 const SessionSpec& spec);

  [[nodiscard]] int pid() const { return pid_; }
  [[nodiscard]] bool over() const { return over_; }

  // Descriptors to poll; output is left alone while the client has no room for it.
  struct Interest {
    int fd = -1;
    short events = 0;
  };
  [[nodiscard]] std::vector<Interest> interests(bool room_for_output) const;
  void on_event(int fd);
  // One frame of the client. False: it is none.
  bool on_frame(std::string_view payload);
  // Whether more input can be taken: the program has not read what it was given before.
  [[nodiscard]] bool has_room() const;
  // Its first process was reaped with this wait status.
  void on_exit(int wait_status);
  // Frames for the client since the last call.
  std::string take_frames() { return std::exchange(frames_, {}); }

  // The client is gone.
  void hang_up();
  [[nodiscard]] std::optional<std::chrono::steady_clock::time_point> kill_at() const {
    return kill_at_;
  }
  // Ends all that is left of it.
  void kill_rest();

 private:
  explicit Session(bool terminal) : terminal_(terminal) {}
  void receive_terminal();
  void resize();
  void push_input();
  // Whether there may be more.
  bool read_output(std::size_t stream);

  bool terminal_;
  int pid_ = 0;
  Fd coming_;                 // where the terminal comes from; shut down, the program starts
  Fd input_;                  // not of a terminal, which takes it by output_[0]
  std::array<Fd, 2> output_;  // standard output and error
  std::string pending_;       // input that the program has not taken
  bool input_ended_ = false;
  std::optional<std::pair<int, int>> size_;
  std::string frames_;
  bool over_ = false;
  std::optional<std::chrono::steady_clock::time_point> kill_at_;
};

}  // namespace muster::node::shim
