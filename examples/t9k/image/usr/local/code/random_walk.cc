// A ring of cells in equal parts, one a rank. Walkers go to the right, each a number of steps that
// chance gave it; one that leaves a part is sent to the next rank. In the end every walker must
// stand where its steps lead it, and none may be missing.
//
// usage: mpirun … random_walk CELLS MAX_STEPS WALKERS    so many cells in all, walkers for each
// rank
#include <algorithm>
#include <charconv>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <optional>
#include <random>
#include <span>
#include <vector>

#define OMPI_SKIP_MPICXX 1  // the functions of C are enough
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
std::vector<Walker> hand_over(const std::vector<Walker>& leaving, const Ranks& ranks) {
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
    walking = hand_over(leaving, ranks);
  }
  return result;
}

bool stands_right(const Walker& walker, const Part& part, const Options& options) {
  return walker.left == 0 && walker.at == (walker.from + walker.steps) % options.cells &&
         walker.at >= part.begin && walker.at < part.end;
}

// What a rank tells the first one, which prints it: mpirun would mix lines of several.
struct Report {
  char host[MPI_MAX_PROCESSOR_NAME];
  std::int64_t ended, right, sent;
};

Report report(const Options& options, const Ranks& ranks) {
  const Result result = walk(options, ranks);
  const Part part = ranks.part(options);
  Report out{
      .host = {},
      .ended = static_cast<std::int64_t>(result.ended.size()),
      .right = std::ranges::count_if(
          result.ended, [&](const Walker& walker) { return stands_right(walker, part, options); }),
      .sent = result.sent};
  int length = 0;
  MPI_Get_processor_name(out.host, &length);
  return out;
}

void print(std::span<const Report> reports, std::int64_t started, std::int64_t right) {
  for (std::size_t rank = 0; rank < reports.size(); ++rank) {
    const Report& one = reports[rank];
    std::printf("rank %zu of %zu on %.*s: %" PRId64 " walkers ended here, %" PRId64
                " were sent on\n",
                rank, reports.size(), MPI_MAX_PROCESSOR_NAME, one.host, one.ended, one.sent);
  }
  std::printf("%" PRId64 " of %" PRId64 " walkers ended where their steps lead, %" PRId64
              " are lost\n",
              right, started, started - right);
  std::fflush(stdout);
}

int run(std::span<char*> words) {
  Ranks ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &ranks.self);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks.size);
  const auto options = read(words, ranks);
  if (!options) return 2;
  const Report mine = report(*options, ranks);
  std::vector<Report> all(ranks.self == 0 ? static_cast<std::size_t>(ranks.size) : 0);
  MPI_Gather(&mine, sizeof(Report), MPI_BYTE, all.data(), sizeof(Report), MPI_BYTE, 0,
             MPI_COMM_WORLD);
  const std::int64_t started = options->walkers * ranks.size;
  const std::int64_t right = sum(mine.right);
  if (ranks.self == 0) print(all, started, right);
  return right == started ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int code = run({argv, static_cast<std::size_t>(argc)});
  MPI_Finalize();
  return code;
}
