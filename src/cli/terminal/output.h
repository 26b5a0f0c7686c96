#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace muster::cli {

// Where a verb's words go: what was asked for to standard output, what is said about it to standard
// error. Never fails in the middle: whoever reads may be gone, and the verb's end says so.
class Output {
 public:
  enum class Stream { Out, Error };

  virtual ~Output() = default;
  // May be held back until flush(), the next write_error(), or the end.
  virtual void write(std::string_view text) = 0;
  virtual void write_error(std::string_view text) = 0;
  virtual void flush() = 0;
  // Steers the terminal on standard error; nothing that a reader would look for.
  virtual void draw(std::string_view text) { write_error(text); }
  // Called before anything but draw() is written to one of the streams: what was drawn must not be
  // in its way. Empty: nobody any more.
  virtual void before_text(std::function<void(Stream)> /*action*/) {}
  // Called once, when standard output takes nothing any more. For verbs that go on by themselves;
  // the others come to their end soon enough.
  virtual void on_broken(std::function<void()> action) = 0;

  template <class... Args>
  void print(fmt::format_string<Args...> format, Args&&... args) {
    write(fmt::format(format, std::forward<Args>(args)...));
  }
  template <class... Args>
  void note(fmt::format_string<Args...> format, Args&&... args) {
    write_error(fmt::format(format, std::forward<Args>(args)...));
  }
};

// The process's own two streams.
class StandardOutput final : public Output {
 public:
  StandardOutput() = default;
  StandardOutput(const StandardOutput&) = delete;
  StandardOutput& operator=(const StandardOutput&) = delete;
  ~StandardOutput() override { flush(); }

  void write(std::string_view text) override;
  void write_error(std::string_view text) override;
  void flush() override;
  void draw(std::string_view text) override;
  void before_text(std::function<void(Stream)> action) override {
    before_text_ = std::move(action);
  }
  void on_broken(std::function<void()> action) override { broken_ = std::move(action); }

  // Writes what is left. The exit code, where all was taken; a reader that went away ends the
  // process as it ends any filter, a device that is full is an error.
  int finish(int code);
  // For whoever writes to standard error by himself.
  void make_room();

 private:
  std::string held_;
  int failure_ = 0;  // errno of the write that was refused
  std::function<void()> broken_;
  std::function<void(Stream)> before_text_;
};

}  // namespace muster::cli
