// A ring of cells in equal parts, one a rank. Walkers go to the right, each a number of steps that
// chance gave it; one that leaves a part is sent to the next rank. In the end every walker must
// stand where its steps lead it, and none may be missing.
//
// usage: mpirun … random_walk CELLS MAX_STEPS WALKERS    so many cells in all, walkers for each
// rank
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <optional>
#include <random>
#include <span>
#include <vector>

#include <mpi.h>

namespace {

struct Options {
  std::int64_t cells, max_steps, walkers;
};

struct Walker {
  std::int64_t from, steps, at, left;
};

// The cells [begin, end) of a rank.
struct Part {
  std::int64_t begin, end;
};

struct Ranks {
  int self = 0, size = 1;

  [[nodiscard]] Part part(const Options& options) const {
    return {.begin = options.cells * self / size, .end = options.cells * (self + 1) / size};
  }
  [[nodiscard]] int next() const { return (self + 1) % size; }
  [[nodiscard]] int previous() const { return (self + size - 1) % size; }
};

std::optional<std::int64_t> positive(const char* text) {
  std::int64_t number = 0;
  const char* const end = text + std::strlen(text);
  const auto [stop, error] = std::from_chars(text, end, number);
  if (error != std::errc{} || stop != end || number < 1 || number > 1'000'000'000) return {};
  return number;
}

std::optional<Options> read(std::span<char*> words, const Ranks& ranks) {
  if (words.size() == 4) {
    const auto cells = positive(words[1]), steps = positive(words[2]), walkers = positive(words[3]);
    if (cells && steps && walkers && *cells >= ranks.size) return Options{*cells, *steps, *walkers};
  }
  if (ranks.self == 0) {
    std::fprintf(stderr,
                 "usage: random_walk CELLS MAX_STEPS WALKERS\n"
                 "three positive numbers; at least as many cells as ranks, which are %d\n",
                 ranks.size);
  }
  return {};
}

std::vector<Walker> first_walkers(const Options& options, const Ranks& ranks) {
  std::mt19937_64 chance(static_cast<std::uint64_t>(ranks.self) + 1);
  std::uniform_int_distribution<std::int64_t> steps(1, options.max_steps);
  std::vector<Walker> walkers;
  const auto begin = ranks.part(options).begin;
  for (std::int64_t i = 0; i < options.walkers; ++i) {
    const auto wanted = steps(chance);
    walkers.push_back({.from = begin, .steps = wanted, .at = begin, .left = wanted});
  }
  return walkers;
}

// Those that left this part give place to those that left the one before it.
std::vector<Walker> exchange(const std::vector<Walker>& leaving, const Ranks& ranks) {
  const auto bytes = [](std::size_t walkers) { return static_cast<int>(walkers * sizeof(Walker)); };
  const int sent = bytes(leaving.size());
  int size = 0;
  MPI_Sendrecv(&sent, 1, MPI_INT, ranks.next(), 0, &size, 1, MPI_INT, ranks.previous(), 0,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  std::vector<Walker> arrived(static_cast<std::size_t>(size) / sizeof(Walker));
  MPI_Sendrecv(leaving.data(), sent, MPI_BYTE, ranks.next(), 1, arrived.data(), size, MPI_BYTE,
               ranks.previous(), 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return arrived;
}

std::int64_t sum(std::int64_t mine) {
  std::int64_t all = 0;
  MPI_Allreduce(&mine, &all, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  return all;
}

struct Result {
  std::vector<Walker> ended;
  std::int64_t sent = 0;
};

// Rounds of walking to the end of the part and of handing over, until nobody walks any more.
Result walk(const Options& options, const Ranks& ranks) {
  const Part part = ranks.part(options);
  auto walking = first_walkers(options, ranks);
  Result result;
  while (sum(static_cast<std::int64_t>(walking.size())) > 0) {
    std::vector<Walker> leaving;
    for (Walker walker : walking) {
      const auto steps = std::min(walker.left, part.end - walker.at);
      walker.at += steps;
      walker.left -= steps;
      const bool inside = walker.at < part.end;
      walker.at %= options.cells;
      (inside ? result.ended : leaving).push_back(walker);
    }
    result.sent += static_cast<std::int64_t>(leaving.size());
    walking = exchange(leaving, ranks);
  }
  return result;
}

bool stands_right(const Walker& walker, const Part& part, const Options& options) {
  return walker.left == 0 && walker.at == (walker.from + walker.steps) % options.cells &&
         walker.at >= part.begin && walker.at < part.end;
}

int run(std::span<char*> words) {
  Ranks ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &ranks.self);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks.size);
  const auto options = read(words, ranks);
  if (!options) return 2;
  char host[MPI_MAX_PROCESSOR_NAME + 1] = {};
  int length = 0;
  MPI_Get_processor_name(host, &length);
  const Result result = walk(*options, ranks);
  std::int64_t right = 0;
  for (const Walker& walker : result.ended)
    right += stands_right(walker, ranks.part(*options), *options) ? 1 : 0;
  std::printf("rank %d of %d on %s: %zu walkers ended here, %lld were sent on\n", ranks.self,
              ranks.size, host, result.ended.size(), static_cast<long long>(result.sent));
  std::fflush(stdout);
  const std::int64_t started = options->walkers * ranks.size;
  const std::int64_t ended = sum(right);
  if (ranks.self == 0) {
    std::printf("%lld of %lld walkers ended where their steps lead, %lld are lost\n",
                static_cast<long long>(ended), static_cast<long long>(started),
                static_cast<long long>(started - ended));
    std::fflush(stdout);
  }
  return ended == started ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int code = run({argv, static_cast<std::size_t>(argc)});
  MPI_Finalize();
  return code;
}
