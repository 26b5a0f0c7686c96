#include "agent/mpi/tally/report.h"

#include <algorithm>

#include <fmt/format.h>

#include "agent/mpi/channel.h"
#include "agent/mpi/processes.h"
#include "agent/mpi/settings.h"
#include "agent/mpi/tally/tally.h"
#include "base/strings.h"

namespace muster::agent::mpi {
namespace {

constexpr std::size_t kMostWordBytes = 256;
constexpr int kMostRanks = 1 << 24;

std::string word(const std::string& text) {
  return text.empty() ? "-" : text;
}

bool is_word(std::string_view text) {
  // Names of hosts and sessions; and a tally has a line for each, so no line ends.
  return !text.empty() && text.size() <= kMostWordBytes &&
         std::ranges::all_of(text, [](char c) { return c > ' ' && c < '\x7f'; });
}

std::string text_of(std::string_view word) {
  return word == "-" ? std::string() : std::string(word);
}

class AgentSink final : public ReportSink {
 public:
  AgentSink(rt::RealLoop& loop, std::string path, std::string session)
      : loop_(loop), path_(std::move(path)), session_(std::move(session)) {}

  Task<Result<void>> note(RankReport report) override {
    report.session = session_;
    auto stream = CO_TRY(co_await net::unix_connector(loop_, path_)->connect());
    FrameChannel channel(loop_, std::move(stream));
    CO_TRY(co_await channel.send(FrameType::Rank, encode_report(report)));
    const auto answer = CO_TRY(co_await channel.receive());
    if (answer.type != FrameType::Noted) co_return fail(ErrorCode::Parse, "an unexpected answer");
    co_return Result<void>{};
  }
  void expect(const std::string&, bool) override {}

 private:
  rt::RealLoop& loop_;
  std::string path_;
  std::string session_;
};

class TallySink final : public ReportSink {
 public:
  explicit TallySink(Tally tally) : tally_(std::move(tally)) {}

  Task<Result<void>> note(RankReport report) override {
    if (report.host.empty()) report.host = own_hostname();
    co_return tally_.note(report);
  }
  void expect(const std::string& host, bool observed) override { tally_.expect(host, observed); }

 private:
  Tally tally_;
};

}  // namespace

std::vector<std::string> fork_agent_variables(const Environment& environment) {
  if (!environment.get(kForkAgentVariable).empty()) return {};
  return {fmt::format("{}={} rank", kForkAgentVariable, own_program())};
}

std::string encode_report(const RankReport& report) {
  return fmt::format("{} {} {} {} {}", report.number, word(report.session), word(report.host),
                     report.rank, report.code ? std::to_string(*report.code) : "-");
}

std::optional<RankReport> decode_report(std::string_view payload) {
  const auto words = split(payload, ' ');
  if (words.size() != 5 || !is_word(words[1]) || !is_word(words[2])) return std::nullopt;
  const auto number = parse_int(words[0]);
  const auto rank = parse_int(words[3]);
  const auto code = parse_int(words[4]);
  if (!number || *number < 0 || !rank || *rank < 0 || *rank > kMostRanks) return std::nullopt;
  if (words[4] != "-" && (!code || *code < 0 || *code > 255)) return std::nullopt;
  return RankReport{.number = static_cast<std::uint64_t>(*number),
                    .session = text_of(words[1]),
                    .host = text_of(words[2]),
                    .rank = static_cast<int>(*rank),
                    .code = code ? std::optional(static_cast<int>(*code)) : std::nullopt};
}

std::unique_ptr<ReportSink> find_sink(VerbContext& context) {
  const auto where = context.environment.get(kReportVariable);
  const auto colon = where.rfind(':');
  if (where.empty() || colon == std::string::npos)
    return std::make_unique<TallySink>(Tally::of_parent(context.environment));
  return std::make_unique<AgentSink>(context.loop, where.substr(0, colon), where.substr(colon + 1));
}

}  // namespace muster::agent::mpi
