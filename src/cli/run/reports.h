#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "cli/run/run_result.h"

namespace muster::cli {

// Where the result of a run goes.
struct Reports {
  bool print = false;  // on standard output, which then has nothing else
  std::string json_file;
  std::string junit_file;
};

// Whether the files can be written: better said before an hour of work than after it.
Result<void> check_reports(const Reports& reports);

// `error`: why nothing could be run.
Result<void> write_reports(Output& output, const Reports& reports,
                           const std::vector<RunResult>& results, int code,
                           const std::string& error = "");

// Standard error for all of it: standard output belongs to the result.
class ErrorStream final : public Output {
 public:
  explicit ErrorStream(Output& output) : output_(output) {}
  void write(std::string_view text) override { output_.write_error(text); }
  void write_error(std::string_view text) override { output_.write_error(text); }
  void flush() override {}
  void draw(std::string_view text) override { output_.draw(text); }
  void before_text(std::function<void(Stream)> action) override {
    output_.before_text(std::move(action));
  }
  void on_broken(std::function<void()> action) override { output_.on_broken(std::move(action)); }

 private:
  Output& output_;
};

}  // namespace muster::cli
