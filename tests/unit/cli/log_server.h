#pragma once

#include <deque>
#include <string>
#include <vector>

#include "cluster/cluster.h"
#include "rt/loop.h"

namespace muster::cli {

struct Line {
  std::string time;
  std::string text;
  std::string end = "\n";
};

// One container's log as an API server gives it: lines with times, a stream that may break at any
// byte, the present run and the one before.
class LogServer final : public cluster::Cluster {
 public:
  explicit LogServer(rt::Loop& loop) : loop_(loop) {}

  struct Run {
    std::vector<Line> lines;
    bool ended = false;
  };
  std::vector<Run> runs = {{}};
  std::deque<std::size_t> cuts;  // the next streams break after so many bytes
  std::deque<Error> refusals;    // the next requests are answered so
  std::vector<cluster::LogOptions> asked;
  std::size_t open_streams = 0;

  Task<Result<std::unique_ptr<cluster::LogStream>>> log(cluster::ObjectKey,
                                                        cluster::LogOptions options) override {
    asked.push_back(options);
    if (!refusals.empty()) {
      const Error error = refusals.front();
      refusals.pop_front();
      co_return fail(error);
    }
    co_return std::make_unique<Stream>(*this, options);
  }

  Task<Result<cluster::ListPage>> list(const cluster::Resource&, cluster::ListOptions) override {
    co_return none();
  }
  Task<Result<std::unique_ptr<cluster::Watch>>> watch(const cluster::Resource&,
                                                      cluster::WatchOptions) override {
    co_return none();
  }
  Task<Result<cluster::ObjectPtr>> get(const cluster::Resource&, cluster::ObjectKey) override {
    co_return none();
  }
  Task<Result<cluster::ObjectPtr>> create(const cluster::Resource&, json::Value) override {
    co_return none();
  }
  Task<Result<cluster::ObjectPtr>> update(const cluster::Resource&, json::Value) override {
    co_return none();
  }
  Task<Result<cluster::ObjectPtr>> update_status(const cluster::Resource&, json::Value) override {
    co_return none();
  }
  Task<Result<cluster::ObjectPtr>> remove(const cluster::Resource&, cluster::ObjectKey,
                                          cluster::DeleteOptions) override {
    co_return none();
  }
  Task<Result<void>> bind(cluster::ObjectKey, std::string, std::string) override {
    co_return none();
  }
  Task<Result<cluster::Token>> create_token(cluster::ObjectKey, cluster::TokenRequest) override {
    co_return none();
  }

 private:
  static std::unexpected<Error> none() { return fail(ErrorCode::MethodNotAllowed, "logs only"); }

  class Stream final : public cluster::LogStream {
   public:
    Stream(LogServer& server, const cluster::LogOptions& options)
        : server_(server),
          options_(options),
          run_(server.runs.size() - (options.previous ? 2 : 1)) {
      ++server_.open_streams;
      const std::size_t lines = server_.runs[run_].lines.size();
      if (options.tail_lines)
        line_ = lines - std::min(lines, static_cast<std::size_t>(*options.tail_lines));
      if (!server_.cuts.empty()) {
        left_ = server_.cuts.front();
        server_.cuts.pop_front();
      }
    }
    ~Stream() override { --server_.open_streams; }

    Task<Result<std::optional<std::string>>> next() override {
      while (true) {
        const Run& run = server_.runs[run_];
        while (line_ < run.lines.size()) {
          const Line& line = run.lines[line_++];
          if (options_.since_time && *parse_time(line.time) < *options_.since_time) continue;
          std::string text = line.time + " " + line.text + line.end;
          if (!left_) co_return text;
          if (*left_ == 0) co_return fail(ErrorCode::Unavailable, "the connection broke");
          text.resize(std::min(*left_, text.size()));
          *left_ -= text.size();
          co_return text;
        }
        if (left_ && *left_ == 0) co_return fail(ErrorCode::Unavailable, "the connection broke");
        if (run.ended || !options_.follow || run_ + 1 < server_.runs.size()) co_return std::nullopt;
        CO_TRY(co_await rt::sleep_for(server_.loop_, std::chrono::milliseconds(10)));
      }
    }

   private:
    LogServer& server_;
    cluster::LogOptions options_;
    std::size_t run_;
    std::size_t line_ = 0;
    std::optional<std::size_t> left_;
  };

  rt::Loop& loop_;
};

}  // namespace muster::cli
