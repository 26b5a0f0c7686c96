#pragma once

#include <string>

#include "rt/wait.h"
#include "verb_fixture.h"

namespace muster::cli {

// Standard error as a person reads it while a verb runs.
class LiveErrors {
 public:
  LiveErrors(rt::RealLoop& loop, CapturedOutput& output)
      : output_(output), news_(loop), enough_(loop, std::chrono::seconds(20), [this] {
          late_ = true;
          news_.pulse();
        }) {
    output_.told = [this] { news_.pulse(); };
  }
  LiveErrors(const LiveErrors&) = delete;
  LiveErrors& operator=(const LiveErrors&) = delete;
  ~LiveErrors() { output_.told = nullptr; }

  // Everything so far, once the text is part of it, or after too long a time.
  Task<std::string> until(std::string text) {
    while (!late_ && output_.err.find(text) == std::string::npos) {
      if (!co_await news_.wait()) break;
    }
    co_return output_.err;
  }

 private:
  CapturedOutput& output_;
  rt::Event news_;
  bool late_ = false;
  rt::Timer enough_;
};

}  // namespace muster::cli
