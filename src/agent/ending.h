#pragma once

#include <functional>
#include <stop_token>

namespace muster::agent {

// What a signal that ends the program does: while a program of ours runs, that gets it and its end
// is waited for; otherwise whatever is waited for is given up.
class Ending {
 public:
  void take(int signal) {
    signal_ = signal;
    if (forward_) {
      forward_(signal);
    } else {
      stop_.request_stop();
    }
  }
  // From now on signals go there; a signal that came before goes there at once.
  void forward_to(std::function<void(int)> forward) {
    forward_ = std::move(forward);
    if (forward_ && signal_ != 0) forward_(signal_);
  }

  // The last one; 0: none came.
  [[nodiscard]] int signal() const { return signal_; }
  [[nodiscard]] std::stop_token token() const { return stop_.get_token(); }

 private:
  int signal_ = 0;
  std::stop_source stop_;
  std::function<void(int)> forward_;
};

}  // namespace muster::agent
