#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "agent/mpi/peers.h"
#include "agent/output.h"
#include "base/strings.h"
#include "rt/scope.h"

namespace muster::agent::mpi {
namespace {

using namespace std::chrono_literals;

constexpr Duration kFirstSilence = 2s;  // what takes longer is said
constexpr Duration kSilence = 10s;
constexpr std::size_t kShown = 8;

// The hosts that have not answered yet, with the reason of the last attempt.
class Waiting {
 public:
  Waiting(rt::RealLoop& loop, Peers& peers, Duration limit)
      : loop_(loop), peers_(peers), limit_(limit), changed_(loop), scope_(loop) {}

  Task<Result<void>> run(std::vector<std::string> hosts) {
    for (const auto& host : hosts) reasons_.emplace(host, "no answer yet");
    for (auto& host : hosts) scope_.spawn(one(std::move(host)));
    scope_.spawn(tell());
    auto result = co_await until_all_answered();
    co_await scope_.close();
    if (!result) co_return result;
    if (failure_) co_return fail(*failure_);
    co_return Result<void>{};
  }

 private:
  Task<Result<void>> until_all_answered() {
    while (!reasons_.empty() && !failure_) {
      changed_.reset();
      CO_TRY(co_await changed_.wait());
    }
    co_return Result<void>{};
  }

  Task<void> one(std::string host) {
    const auto answered = co_await peers_.wait_for_answer(
        host, {.limit = limit_,
               .on_failure = [this, host](const Error& error) { reasons_[host] = error.message; }});
    if (answered) {
      reasons_.erase(host);
    } else if (answered.error().code != ErrorCode::Cancelled && !failure_) {
      failure_ = answered.error();
    }
    changed_.set();
  }

  Task<void> tell() {
    for (Duration pause = kFirstSilence;; pause = kSilence) {
      if (!co_await rt::sleep_for(loop_, pause)) co_return;
      std::vector<std::string> names;
      for (const auto& [host, reason] : reasons_) {
        if (names.size() == kShown) break;
        names.push_back(fmt::format("{} ({})", host, reason));
      }
      const auto more = reasons_.size() - names.size();
      say(fmt::format("waiting for {}{}", join(names, ", "),
                      more == 0 ? "" : fmt::format(" and {} more", more)));
    }
  }

  rt::RealLoop& loop_;
  Peers& peers_;
  Duration limit_;
  rt::Event changed_;
  std::map<std::string, std::string> reasons_;
  std::optional<Error> failure_;
  rt::TaskScope scope_;
};

}  // namespace

Task<Result<void>> wait_for_hosts(rt::RealLoop& loop, Peers& peers, std::vector<std::string> hosts,
                                  Duration limit) {
  Waiting waiting(loop, peers, limit);
  co_return co_await waiting.run(std::move(hosts));
}

}  // namespace muster::agent::mpi
