#include "trainer/messages.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "trainer/hyperparameters.h"
#include "trainer/node_id.h"
#include "trainer/numbers.h"

namespace muster::trainer {
namespace {

constexpr std::string_view kVersion = "1";
constexpr std::string_view kNoSteps = "-";
constexpr std::size_t kMaxReason = 512;

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) {
      return parts;
    }
    text.remove_prefix(end + 1);
  }
}

bool is_printable(char character) {
  return character >= ' ' && character <= '~';
}

// A peer's words may end up in a terminal.
std::string printable(std::string_view text) {
  std::string result(text);
  std::ranges::replace_if(result, [](char character) { return !is_printable(character); }, '?');
  return result;
}

std::unexpected<Error> malformed(std::string_view what) {
  return failure(fmt::format("malformed '{}' message", what));
}

std::optional<std::vector<std::uint64_t>> parse_steps(std::string_view text) {
  std::vector<std::uint64_t> steps;
  if (text == kNoSteps) {
    return steps;
  }
  for (const std::string_view part : split(text, ',')) {
    const auto step = parse_number<std::uint64_t>(part);
    if (!step || *step > kMaxTotalSteps || steps.size() == kMaxAdvertisedSteps) {
      return std::nullopt;
    }
    steps.push_back(*step);
  }
  return steps;
}

std::optional<std::vector<Peer>> parse_peers(std::string_view text) {
  std::vector<Peer> peers;
  for (const std::string_view part : split(text, ',')) {
    const std::size_t equals = part.find('=');
    if (equals == std::string_view::npos || peers.size() == kMaxRanks) {
      return std::nullopt;
    }
    auto endpoint = parse_endpoint(part.substr(equals + 1));
    if (!endpoint || !is_node_id(part.substr(0, equals))) {
      return std::nullopt;
    }
    peers.push_back(
        {.node_id = std::string(part.substr(0, equals)), .endpoint = std::move(*endpoint)});
  }
  return peers;
}

Result<WorkerMessage> parse_registration(const std::vector<std::string_view>& words) {
  if (words.size() != 6) {
    return malformed("register");
  }
  if (words[1] != kVersion) {
    return failure("a worker of another version of muster-trainer tried to register");
  }
  auto endpoint = parse_endpoint(words[3]);
  const auto digest = parse_hexadecimal<std::uint64_t>(words[4]);
  auto steps = parse_steps(words[5]);
  if (!is_node_id(words[2]) || !endpoint || !digest || !steps) {
    return malformed("register");
  }
  return Registration{.node_id = std::string(words[2]),
                      .endpoint = std::move(*endpoint),
                      .digest = *digest,
                      .steps = std::move(*steps)};
}

Result<SchedulerMessage> parse_start(const std::vector<std::string_view>& words) {
  if (words.size() != 6) {
    return malformed("start");
  }
  const auto generation = parse_number<std::uint64_t>(words[1]);
  const auto session = parse_hexadecimal<std::uint64_t>(words[2]);
  const auto rank = parse_number<std::uint64_t>(words[3]);
  const auto resume_step = parse_number<std::uint64_t>(words[4]);
  auto peers = parse_peers(words[5]);
  if (!generation || !session || !rank || !resume_step || *resume_step > kMaxTotalSteps || !peers ||
      *rank >= peers->size()) {
    return malformed("start");
  }
  return Start{.generation = *generation,
               .session = *session,
               .rank = *rank,
               .resume_step = *resume_step,
               .peers = std::move(*peers)};
}

}  // namespace

std::string encode(const Registration& message) {
  const std::string steps = message.steps.empty()
                                ? std::string(kNoSteps)
                                : fmt::format("{}", fmt::join(message.steps, ","));
  return fmt::format("register {} {} {} {:x} {}", kVersion, message.node_id,
                     to_string(message.endpoint), message.digest, steps);
}

std::string encode(const Start& message) {
  std::string line = fmt::format("start {} {:x} {} {} ", message.generation, message.session,
                                 message.rank, message.resume_step);
  for (std::size_t rank = 0; rank < message.peers.size(); ++rank) {
    const Peer& peer = message.peers[rank];
    line += fmt::format("{}{}={}", rank == 0 ? "" : ",", peer.node_id, to_string(peer.endpoint));
  }
  return line;
}

std::string encode(const Done& message) {
  return fmt::format("done {}", message.generation);
}

std::string encode(const Finished&) {
  return "finished";
}

std::string encode(const Lost& message) {
  return "lost " + message.node_id;
}

std::string encode(const Rejected& message) {
  return "reject " + printable(std::string_view(message.reason).substr(0, kMaxReason));
}

Result<WorkerMessage> parse_worker_message(std::string_view line) {
  const std::vector<std::string_view> words = split(line, ' ');
  if (words.front() == "register") {
    return parse_registration(words);
  }
  if (words.front() == "done") {
    const auto generation =
        words.size() == 2 ? parse_number<std::uint64_t>(words[1]) : std::nullopt;
    return generation ? Result<WorkerMessage>(Done{*generation}) : malformed("done");
  }
  return failure("a message that is neither 'register' nor 'done'");
}

Result<SchedulerMessage> parse_scheduler_message(std::string_view line) {
  const std::vector<std::string_view> words = split(line, ' ');
  if (words.front() == "start") {
    return parse_start(words);
  }
  if (line == "finished") {
    return Finished{};
  }
  if (words.front() == "lost") {
    return words.size() == 2 && is_node_id(words[1])
               ? Result<SchedulerMessage>(Lost{std::string(words[1])})
               : malformed("lost");
  }
  if (words.front() == "reject" && words.size() >= 2) {
    return Rejected{printable(line.substr(words.front().size() + 1).substr(0, kMaxReason))};
  }
  return failure("a message that is none of 'start', 'finished', 'lost' and 'reject'");
}

}  // namespace muster::trainer
