#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <variant>

#include <fmt/core.h>

#include "trainer/bytes.h"
#include "trainer/files.h"
#include "trainer/network.h"
#include "trainer/output.h"
#include "trainer/ring.h"
#include "trainer/run.h"
#include "trainer/scheduler_link.h"
#include "trainer/snapshot_store.h"
#include "trainer/training.h"

namespace muster::trainer {
namespace {

// How long a worker that lost its neighbour waits for the scheduler to say who was lost first.
// Ending at once would make this worker the next neighbour's loss, and the log would name everyone
// but the culprit.
constexpr auto kVerdictPatience = std::chrono::milliseconds(500);

// One life of a worker process, from its registration to the end of its generation.
class Worker {
 public:
  Worker(const TrainCommand& command, const Environment& environment)
      : command_(command), environment_(environment), hyperparameters_(command.hyperparameters) {
    hyperparameters_.ranks = environment.workers;
  }

  Result<void> run() {
    TRY(open_store());
    Descriptor listener = TRY(listen_on(0));
    JoinOutcome outcome = TRY(register_with_scheduler(listener));
    if (std::holds_alternative<AlreadyFinished>(outcome)) {
      say("all workers are done already: nothing to do");
      return {};
    }
    if (auto* timed_out = std::get_if<TimedOut>(&outcome)) {
      return on_timeout(*timed_out);
    }
    auto& joined = std::get<Joined>(outcome);
    Result<void> result = run_generation(std::move(listener), joined);
    if (!result && result.error().exit_code == ExitCode::PeerLost) {
      return explain(result.error(), joined.link);
    }
    return result;
  }

 private:
  Result<void> open_store() {
    if (command_.checkpoint_directory) {
      store_ = TRY(SnapshotStore::open(*command_.checkpoint_directory, environment_.node_id));
      inventory_ = store_->restorable(hyperparameters_);
      for (const std::string& reason : inventory_.rejected) {
        note("ignored a checkpoint: {}", reason);
      }
    }
    return {};
  }

  Result<JoinOutcome> register_with_scheduler(const Descriptor& listener) {
    const std::vector<std::uint64_t>& steps = inventory_.steps;
    const std::size_t told = std::min(steps.size(), kMaxAdvertisedSteps);
    return join(
        {.host = environment_.scheduler_host,
         .port = environment_.scheduler_port,
         .registration = {.node_id = environment_.node_id,
                          .endpoint = TRY(local_endpoint(listener)),
                          .digest = digest(hyperparameters_),
                          .steps = {steps.end() - static_cast<std::ptrdiff_t>(told), steps.end()}},
         .timeout = environment_.topology_timeout});
  }

  // Every rank keeps its last checkpoint, or the mark that it becomes, past the barrier at the end.
  // If ours is there and no one comes to meet us, the others passed that barrier and left, and we
  // were stopped between it and our own end.
  Result<void> on_timeout(const TimedOut& timed_out) const {
    if (inventory_.is_complete) {
      say("all steps were trained before, and no one is left to meet: nothing to do");
      return {};
    }
    return failure(
        fmt::format("no topology of {} workers after {} s: {}; the scheduler is expected at {}:{} "
                    "(MS_SCHED_HOST, MS_SCHED_PORT), the limit is MS_TOPO_TIMEOUT",
                    environment_.workers, environment_.topology_timeout.count(), timed_out.reason,
                    environment_.scheduler_host, environment_.scheduler_port));
  }

  Result<void> run_generation(Descriptor listener, Joined& joined) {
    const Start& start = joined.start;
    if (start.peers.size() != environment_.workers ||
        start.peers[start.rank].node_id != environment_.node_id) {
      return failure("the scheduler's table of workers does not fit MS_WORKER_NUM and MS_NODE_ID");
    }
    say("rank {} of {}, generation {}", start.rank, start.peers.size(), start.generation);
    Snapshot state = TRY(restore(start));
    Ring ring = TRY(Ring::connect({.listener = std::move(listener),
                                   .start = start,
                                   .link = joined.link,
                                   .patience = environment_.node_timeout}));
    TRY(train(state, ring,
              {.shards = {.first = start.rank, .count = 1},
               .log_every = command_.log_every,
               .checkpoint_every = command_.checkpoint_every,
               .store = store_ ? &*store_ : nullptr,
               .step_delay = command_.step_delay}));
    return finish(state, ring, joined);
  }

  Result<Snapshot> restore(const Start& start) {
    if (store_) {
      store_->resume_at(start.resume_step);
      // A result of an earlier run must not be taken for ours.
      std::error_code ignored;
      std::filesystem::remove(final_path(store_->directory(), start.rank), ignored);
    }
    if (start.resume_step == 0) {
      return initial_snapshot(hyperparameters_);
    }
    if (!store_ || !std::ranges::binary_search(inventory_.steps, start.resume_step)) {
      return failure(
          fmt::format("the scheduler asks for step {}, of which there is no checkpoint here",
                      start.resume_step));
    }
    say("resuming after step {}", start.resume_step);
    return store_->load(start.resume_step);
  }

  // The order matters. First everybody has the last checkpoint and the result on disk, which the
  // barrier proves; then everybody says so to the scheduler, which tells all when the last one has;
  // only then may the checkpoints go. A rank that dies on the way is started again, and finds
  // either its peers or its own mark.
  Result<void> finish(const Snapshot& state, Ring& ring, Joined& joined) {
    const std::string result = encode(state);
    if (store_) {
      TRY(write_atomically(final_path(store_->directory(), joined.start.rank), result));
    }
    TRY(ring.barrier());
    TRY(joined.link.finish(joined.start.generation, Clock::now() + environment_.node_timeout));
    if (store_) {
      store_->mark_finished(state.step);
    }
    // Equal on all ranks, for those who have only our log.
    say("done after step {}, result {:016x}", state.step, checksum(result));
    return {};
  }

  static std::unexpected<Error> explain(const Error& seen, SchedulerLink& link) {
    std::string who = seen.message;
    const std::optional<std::string> first = link.lost_peer(Clock::now() + kVerdictPatience);
    if (first && !seen.message.starts_with(*first + " ")) {
      who = *first + ", says the scheduler";
    }
    return peer_lost(fmt::format("lost peer {}; exiting with 138 to be started again", who));
  }

  const TrainCommand& command_;
  const Environment& environment_;
  Hyperparameters hyperparameters_;
  std::optional<SnapshotStore> store_;
  SnapshotStore::Inventory inventory_;
};

}  // namespace

Result<void> run_worker(const TrainCommand& command, const Environment& environment) {
  return Worker(command, environment).run();
}

}  // namespace muster::trainer
