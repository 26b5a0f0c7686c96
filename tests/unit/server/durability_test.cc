#include <stdlib.h>

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/strings.h"
#include "faulty_disk.h"
#include "home.h"
#include "ledger.h"
#include "rt/real_loop.h"
#include "server/store/store.h"
#include "server/types.h"

// Acknowledged = durable, whatever a crash does to what was not synced. A workload goes through the
// real store onto a disk that notes every step; then the power fails before each of them, in
// several ways, and the store is opened on what is left.
namespace muster::server {
namespace {

// Larger with MUSTER_STORE_BATCHES (./dev test --full).
int batches() {
  const char* wish = ::getenv("MUSTER_STORE_BATCHES");
  return wish == nullptr ? 18 : static_cast<int>(parse_int(wish).value_or(18));
}

constexpr std::array kLosses = {Loss::Everything, Loss::Nothing, Loss::Tail, Loss::Sectors512,
                                Loss::Sectors64};

// Marks in the order of steps: a batch is handed over, and it is acknowledged.
constexpr std::uint64_t handed_over(Version version) {
  return version * 2;
}
constexpr std::uint64_t acknowledged(Version version) {
  return version * 2 + 1;
}

// Loop and worker for all the stores of a test, which are opened one after the other.
struct Machine {
  Home home;
  rt::RealLoop loop;
  rt::Pool pool{1};

  Result<std::unique_ptr<Store>> open(FaultyDisk& disk) {
    return Store::open({.loop = loop, .pool = &pool, .home = home.path(), .disk = &disk});
  }
};

class Workload {
 public:
  Workload(Machine& machine, FaultyDisk& disk, Ledger& ledger, std::uint64_t seed)
      : machine_(machine), disk_(disk), ledger_(ledger), rng_(seed) {}

  // What already goes wrong without a crash.
  std::string run(int count) {
    std::string wrong = begin();
    for (int i = 0; i < count && wrong.empty(); ++i) {
      if (i == count / 2) {  // a clean end in between
        end();
        if (wrong = begin(); !wrong.empty()) break;
      }
      const std::size_t size = 1 + (i % 3 == 2 ? rng_.below(8) : rng_.below(2));
      for (std::size_t each = 0; each < size; ++each) store_->append(something());
      ledger_.end_batch();
      const Version version = ledger_.version();
      disk_.mark(handed_over(version));
      const auto done = machine_.loop.run(store_->durable(version));
      if (!done) wrong = done.error().message;
      disk_.mark(acknowledged(version));
    }
    if (store_ != nullptr) end();
    return wrong;
  }

 private:
  std::string begin() {
    auto opened = machine_.open(disk_);
    if (!opened) return opened.error().message;
    store_ = std::move(*opened);
    return {};
  }
  void end() {
    machine_.loop.run(store_->close());
    store_.reset();
  }

  Change something() {
    const bool secret = rng_.below(5) == 0;
    const std::string key = fmt::format("{}/{}/{}", secret ? "secrets" : "things", "default",
                                        rng_.below(secret ? 2 : 6));
    const bool there = ledger_.objects_at(ledger_.version()).contains(key);
    const bool deletes = there && rng_.below(4) == 0;
    // Some need pages of their own.
    const std::size_t length = rng_.below(6) == 0 ? 9'000 : rng_.below(300);
    std::string text = fmt::format("v{} ", ledger_.version() + 1);
    text.append(length, static_cast<char>('a' + rng_.below(26)));
    return ledger_.next(key, text, deletes);
  }

  Machine& machine_;
  FaultyDisk& disk_;
  Ledger& ledger_;
  SeededRng rng_;
  std::unique_ptr<Store> store_;
};

// What is wrong with what a crash left; nothing when all is as it should be.
class Checker {
 public:
  Checker(Machine& machine, const Ledger& ledger) : machine_(machine), ledger_(ledger) {}

  // `promised` was acknowledged, and no more than `asked` was handed over.
  std::string check(const DiskImage& image, Version promised, Version asked) {
    FaultyDisk disk(image);
    auto store = machine_.open(disk);
    if (!store) return fmt::format("it does not open: {}", store.error().message);
    const Contents contents = (*store)->take_contents();
    std::string wrong = judge(contents, promised, asked);
    if (wrong.empty() && ++checked_ % 4 == 0) wrong = go_on(**store, contents.version + 1);
    machine_.loop.run((*store)->close());
    if (!wrong.empty() || checked_ % 4 != 0) return wrong;
    return is_still_there(disk, contents.version + 1);
  }
  // As before; and again, after another crash while it was opened.
  std::string check_twice(const DiskImage& image, Version promised, Version asked, Rng& rng) {
    FaultyDisk disk(image);
    auto store = machine_.open(disk);
    if (!store) return fmt::format("it does not open: {}", store.error().message);
    machine_.loop.run((*store)->close());
    const std::size_t step = rng.below(disk.steps().size() + 1);
    const auto again = disk.crash(step, kLosses[rng.below(kLosses.size())], rng);
    return check(again, promised, asked);
  }
  [[nodiscard]] int checked() const { return checked_; }

 private:
  std::string judge(const Contents& contents, Version promised, Version asked) const {
    const Version version = contents.version;
    if (version < promised) return fmt::format("{} was promised, {} is there", promised, version);
    if (version > asked) return fmt::format("{} was asked for, {} is there", asked, version);
    if (!ledger_.is_end(version)) return fmt::format("half a transaction is there, to {}", version);
    if (auto wrong = wrong_objects(contents, ledger_); !wrong.empty()) return wrong;
    return wrong_history(contents, ledger_);
  }
  std::string go_on(Store& store, Version version) {
    store.append({.version = version,
                  .key = "things/default/after",
                  .type = ChangeType::Created,
                  .object = object_of("after", "after"),
                  .previous = 0,
                  .time = {}});
    const auto written = machine_.loop.run(store.durable(version));
    return written ? "" : written.error().message;
  }
  std::string is_still_there(FaultyDisk& disk, Version version) {
    FaultyDisk again(disk.now());
    auto store = machine_.open(again);
    if (!store) return fmt::format("it does not open again: {}", store.error().message);
    const Contents contents = (*store)->take_contents();
    machine_.loop.run((*store)->close());
    const bool there = std::ranges::any_of(contents.objects, [&](const Change& object) {
      return object.version == version && object.key == "things/default/after";
    });
    return there && contents.version == version ? "" : "what was written after the crash is lost";
  }

  Machine& machine_;
  const Ledger& ledger_;
  int checked_ = 0;
};

struct Verdict {
  std::string wrong;  // the first that was found
  int checked = 0;
  std::size_t steps = 0;
};

// A crash before every step, in every way.
Verdict crash_everywhere(Mistake mistake, std::uint64_t seed, int count) {
  Machine machine;
  Ledger ledger;
  FaultyDisk disk({}, mistake);
  Verdict verdict{.wrong = Workload(machine, disk, ledger, seed).run(count)};
  verdict.steps = disk.steps().size();
  Checker checker(machine, ledger);
  SeededRng rng(seed);
  Version promised = 0;
  Version asked = 0;
  for (std::size_t step = 0; step <= verdict.steps && verdict.wrong.empty(); ++step) {
    for (const Loss loss : kLosses) {
      const DiskImage image = disk.crash(step, loss, rng);
      verdict.wrong = checker.check(image, promised, asked);
      if (verdict.wrong.empty() && rng.below(16) == 0)
        verdict.wrong = checker.check_twice(image, promised, asked, rng);
      if (verdict.wrong.empty()) continue;
      verdict.wrong += fmt::format(" (crash before step {} of {}, loss {}, seed {})", step,
                                   verdict.steps, std::to_underlying(loss), seed);
      break;
    }
    if (step == verdict.steps || disk.steps()[step].what != DiskStep::What::Mark) continue;
    const std::uint64_t mark = disk.steps()[step].at;
    (mark % 2 == 1 ? promised : asked) = mark / 2;
  }
  verdict.checked = checker.checked();
  return verdict;
}

TEST(Durability, WhatWasAcknowledgedSurvivesACrashBeforeEveryStep) {
  const auto verdict = crash_everywhere(Mistake::None, 11, batches());
  EXPECT_EQ(verdict.wrong, "");
  EXPECT_GT(verdict.checked, 500);
  RecordProperty("states", verdict.checked);
  fmt::print("{} steps, {} states after a crash\n", verdict.steps, verdict.checked);
}

// The proof is proved: it finds each of these.
class Planted : public testing::TestWithParam<Mistake> {};

TEST_P(Planted, IsFound) {
  std::string found;
  for (std::uint64_t seed = 3; seed <= 10 && found.empty(); ++seed)
    found = crash_everywhere(GetParam(), seed, 12).wrong;
  EXPECT_NE(found, "") << "a store with a bug passes";
  fmt::print("{}\n", found);
}

std::string name_of(const testing::TestParamInfo<Mistake>& info) {
  static constexpr std::array kNames = {"None",
                                        "NoSync",
                                        "NoFolderSync",
                                        "AnswerBeforeCommit",
                                        "TransactionEach",
                                        "CounterNotStored",
                                        "ForgetfulScrub",
                                        "CheckpointUnsynced"};
  return kNames[static_cast<std::size_t>(info.param)];
}

INSTANTIATE_TEST_SUITE_P(Durability, Planted,
                         testing::Values(Mistake::NoSync, Mistake::NoFolderSync,
                                         Mistake::AnswerBeforeCommit, Mistake::TransactionEach,
                                         Mistake::CounterNotStored, Mistake::ForgetfulScrub,
                                         Mistake::CheckpointUnsynced),
                         name_of);

}  // namespace
}  // namespace muster::server
