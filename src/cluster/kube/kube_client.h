#pragma once

#include <memory>
#include <string>

#include "base/random.h"
#include "cluster/fence.h"
#include "cluster/kube/access/credentials.h"
#include "cluster/kube/limiter.h"
#include "cluster/kube/request_counts.h"
#include "cluster/kube/retry.h"
#include "cluster/kube/transport.h"
#include "rt/loop.h"

namespace muster::cluster::kube {

struct KubeClientOptions {
  std::string prefix;                 // of the server, in front of every path
  std::string user_agent = "muster";  // the program adds its version: muster/0.1.0
  Duration request_timeout =
      std::chrono::seconds(30);  // of one attempt; of a stream, until its head
  LimiterOptions limiter;
  RetryOptions retry;
  const Fence* fence =
      nullptr;  // asked before each write; outlives the client. None: always allowed
  RequestCounts* counts = nullptr;  // told of every attempt; outlives the client
};

// One request as the cluster's calls make it.
struct Call {
  std::string method = "GET";
  std::string target;
  std::string body;
  Effect effect = Effect::Reads;
  // Leader election lives on this: it neither queues behind a thousand creates nor asks the fence
  // that it itself keeps open.
  bool urgent = false;
};

// Sends requests to one API server as one user: credentials, time limits, repeats where that is
// safe, concurrency that adapts to the server. Lives on one loop. Errors are what the server's
// Status says; Unavailable or Timeout of a write means that it may have happened. No error carries
// a token. close() it before it is destroyed.
class KubeClient {
 public:
  // With a fence, `writes` should be a transport over fenced() connections; null: `reads` carries
  // all.
  KubeClient(rt::Loop& loop, std::unique_ptr<Transport> reads, std::unique_ptr<Transport> writes,
             std::shared_ptr<Credentials> credentials, Rng& rng, KubeClientOptions options);

  // The body of the 2xx answer.
  Task<Result<std::string>> call(Call call);
  // A 2xx answer whose body is read as it comes. Not counted as in flight.
  Task<Result<std::unique_ptr<net::ResponseStream>>> open(Call call);
  Task<void> close();

  [[nodiscard]] rt::Loop& loop() const { return loop_; }
  [[nodiscard]] Rng& rng() const { return rng_; }
  [[nodiscard]] int in_flight_limit() const { return limiter_.limit(); }

 private:
  // Whether an error is the server's own answer, or no answer came.
  struct Failure {
    Error error;
    bool answered = false;
    std::uint64_t credentials = 0;  // the version of those that were presented
  };
  template <class T>
  using Attempt = std::expected<T, Failure>;

  Task<Attempt<std::string>> attempt_call(const Call& call);
  Task<Attempt<std::unique_ptr<net::ResponseStream>>> attempt_open(const Call& call);
  Task<Attempt<std::string>> send_now(const Call& call);
  // Up to date credentials, on connections that were made with them.
  Task<Result<void>> be_somebody();
  net::HttpRequest request_of(const Call& call);
  // What we ended ourselves says nothing of the server.
  void count(const Call& call, const Result<int>& status, Monotonic sent_at);
  Result<void> check_fence(const Call& call) const;
  Transport& transport_for(const Call& call) const;
  // Waits before the next attempt; the error when there is none.
  struct Attempts {
    Monotonic begun;
    int made = 0;
    bool as_another = false;  // once with other credentials than those that were refused
  };
  Task<Result<void>> before_next(const Call& call, Failure failure, Attempts& attempts);

  rt::Loop& loop_;
  std::unique_ptr<Transport> reads_;
  std::unique_ptr<Transport> writes_;
  std::shared_ptr<Credentials> credentials_;
  std::uint64_t connection_version_;
  Rng& rng_;
  KubeClientOptions options_;
  Limiter limiter_;
  bool answered_ = false;  // by the server, ever
};

}  // namespace muster::cluster::kube
