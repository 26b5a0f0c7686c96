#pragma once

#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <array>
#include <string>

#include <gtest/gtest.h>

#include "base/fd.h"

namespace muster::cli {

// One of our standard streams is something else while this lives.
class Replaced {
 public:
  Replaced(int stream, int by) : stream_(stream), before_(::fcntl(stream, F_DUPFD_CLOEXEC, 10)) {
    ::dup2(by, stream_);
  }
  Replaced(const Replaced&) = delete;
  Replaced& operator=(const Replaced&) = delete;
  ~Replaced() { ::dup2(before_.get(), stream_); }

 private:
  int stream_;
  Fd before_;
};

struct Pipe {
  Pipe() {
    std::array<int, 2> ends{};
    EXPECT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
    out = Fd(ends[0]);
    in = Fd(ends[1]);
  }
  // What was written into it; nobody writes any more.
  [[nodiscard]] std::string all() {
    in = Fd();
    std::string text;
    std::array<char, 4096> piece{};
    for (ssize_t got = 0; (got = ::read(out.get(), piece.data(), piece.size())) > 0;)
      text.append(piece.data(), static_cast<std::size_t>(got));
    return text;
  }
  Fd out;
  Fd in;
};

// A terminal of our own, with a person at its other end.
class PseudoTerminal {
 public:
  PseudoTerminal(unsigned short columns, unsigned short rows)
      : person_(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC)) {
    EXPECT_EQ(::grantpt(person_.get()), 0);
    EXPECT_EQ(::unlockpt(person_.get()), 0);
    end_ = Fd(::open(::ptsname(person_.get()), O_RDWR | O_NOCTTY | O_CLOEXEC));
    EXPECT_TRUE(end_.valid());
    resize(columns, rows);
  }
  void resize(unsigned short columns, unsigned short rows) const {
    const winsize size{.ws_row = rows, .ws_col = columns, .ws_xpixel = 0, .ws_ypixel = 0};
    EXPECT_EQ(::ioctl(end_.get(), TIOCSWINSZ, &size), 0);
  }
  // What a program has as its terminal.
  [[nodiscard]] int end() const { return end_.get(); }
  // Where keys are typed and the screen is seen.
  [[nodiscard]] int person() const { return person_.get(); }

 private:
  Fd person_;
  Fd end_;
};

}  // namespace muster::cli
