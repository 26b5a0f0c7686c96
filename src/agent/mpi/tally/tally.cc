#include "agent/mpi/tally/tally.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>

#include <fmt/format.h>

#include "agent/files.h"
#include "agent/mpi/hostfile.h"
#include "agent/mpi/processes.h"
#include "agent/mpi/settings.h"
#include "base/strings.h"

namespace muster::agent::mpi {
namespace {

constexpr auto kTerminationLog = "/dev/termination-log";
constexpr std::string_view kMark = "muster: ";
constexpr std::size_t kNamed = 8;
constexpr std::size_t kMostMessageBytes = 4096;  // what Kubernetes reads of it

// mpirun may drop the domain of a host's name.
std::string short_name(const std::string& host) {
  if (host.find(':') != std::string::npos ||
      host.find_first_not_of("0123456789.") == std::string::npos) {
    return host;
  }
  return host.substr(0, host.find('.'));
}

std::string some_of(const std::vector<std::string>& names) {
  const auto shown = std::min(names.size(), kNamed);
  auto text = join({names.begin(), names.begin() + static_cast<std::ptrdiff_t>(shown)}, ", ");
  if (names.size() > shown) text += fmt::format(" and {} more", names.size() - shown);
  return text;
}

// 128 + signal, as shells say it; what no ordinary signal gives is a code of the program's own.
std::string ended_with(int code) {
  constexpr int kLastOrdinarySignal = 31;
  const int signal = code - 128;
  if (signal > 0 && signal <= kLastOrdinarySignal) return fmt::format("signal {}", signal);
  return fmt::format("exit code {}", code);
}

Result<void> overwrite(int fd, const std::string& text) {
  if (::ftruncate(fd, 0) != 0 ||
      ::pwrite(fd, text.data(), text.size(), 0) != static_cast<ssize_t>(text.size())) {
    return fail_errno("write");
  }
  return {};
}

void say_in_message(const std::string& remark) {
  const auto message = read_file(kTerminationLog);
  if (!message) return;  // not in a pod, or its message is elsewhere
  const auto text = with_remark(*message, remark);
  if (text == *message) return;
  const Fd file(::open(kTerminationLog, O_WRONLY | O_CLOEXEC));
  if (!file.valid()) return;
  [[maybe_unused]] const auto written = overwrite(file.get(), text);
}

}  // namespace

Counts read_counts(std::string_view text) {
  Counts counts;
  for (const auto line : split(text, '\n')) {
    const auto words = split(line, ' ');
    if (words.size() == 2 && words[0] == "ran") counts.ran.emplace(words[1]);
    if (words.size() == 2 && words[0] == "unobserved") counts.unobserved.emplace(words[1]);
    if (words.size() != 4 || words[0] != "failed") continue;
    const auto rank = parse_int(words[1]);
    const auto code = parse_int(words[3]);
    if (rank && code)
      counts.failed[static_cast<int>(*rank)] = {std::string(words[2]), static_cast<int>(*code)};
  }
  return counts;
}

std::string write_counts(const Counts& counts) {
  std::string text;
  for (const auto& host : counts.ran) text += fmt::format("ran {}\n", host);
  for (const auto& host : counts.unobserved) text += fmt::format("unobserved {}\n", host);
  for (const auto& [rank, end] : counts.failed)
    text += fmt::format("failed {} {} {}\n", rank, end.first, end.second);
  return text;
}

void apply(Counts& counts, const RankReport& report) {
  counts.ran.insert(short_name(report.host));
  if (report.code && *report.code != 0) {
    counts.failed[report.rank] = {short_name(report.host), *report.code};
  } else if (report.code) {
    counts.failed.erase(report.rank);
  }
}

std::string remark_on(const Counts& counts, const std::vector<std::string>& hosts) {
  std::vector<std::string> idle;
  // Before the first rank, or where somebody else's program stands in the place of ours, nothing is
  // known of any host.
  for (const auto& host : counts.ran.empty() ? std::vector<std::string>() : hosts) {
    const auto name = short_name(host);
    if (!counts.ran.contains(name) && !counts.unobserved.contains(name)) idle.push_back(name);
  }
  std::vector<std::string> failed;
  for (const auto& [rank, end] : counts.failed)
    failed.push_back(fmt::format("rank {} on {} with {}", rank, end.first, ended_with(end.second)));
  std::string text;
  if (!idle.empty())
    text = fmt::format("{} of {} hosts ran no rank: {}", idle.size(), hosts.size(), some_of(idle));
  if (!failed.empty()) {
    text += fmt::format("{}{} {} failed: {}", text.empty() ? "" : "; ", failed.size(),
                        failed.size() == 1 ? "rank" : "ranks", some_of(failed));
  }
  return text;
}

std::string with_remark(std::string_view message, std::string_view remark) {
  std::string text;
  for (const auto line : split(message, '\n')) {
    if (!line.empty() && !line.starts_with(kMark)) text += std::string(line) + "\n";
  }
  if (remark.empty()) return text;
  const auto ours = fmt::format("{}{}\n", kMark, shortened(remark, kMostMessageBytes / 4));
  // Ours must be within what is read.
  if (text.size() + ours.size() > kMostMessageBytes)
    text.resize(kMostMessageBytes - ours.size() - 1);
  if (!text.empty() && !text.ends_with('\n')) text += '\n';
  return text + ours;
}

Tally Tally::of_parent(const Environment& environment) {
  const auto mpirun = ::getppid();
  // A file may outlive its mpirun; its pid does not mean the same process twice.
  const auto name =
      fmt::format("muster-mpi-{}-{}-{}", own_hostname(), mpirun, start_time_of(mpirun));
  auto hostfile = environment.get("MUSTER_MPI_HOSTFILE");
  if (hostfile.empty()) hostfile = environment.get("OMPI_MCA_orte_default_hostfile");
  const bool heard = environment.get(kForkAgentVariable).ends_with(" rank");
  return Tally({"/tmp/" + name, "/dev/shm/" + name}, std::move(hostfile),
               heard ? std::string() : own_hostname());
}

template <class Change>
Result<void> Tally::change(Change change) const {
  Fd file;
  for (const auto& path : paths_) {
    file = Fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (file.valid()) break;
  }
  if (!file.valid()) return fail_errno("create " + paths_.front());
  if (::flock(file.get(), LOCK_EX) != 0) return fail_errno("lock " + paths_.front());
  const auto before = TRY(read_file(fmt::format("/proc/self/fd/{}", file.get())));
  auto counts = read_counts(before);
  change(counts);
  if (!unheard_.empty()) counts.unobserved.insert(short_name(unheard_));
  if (auto after = write_counts(counts); after != before) TRY(overwrite(file.get(), after));
  const auto hosts = hostfile_.empty() ? Result<std::string>("") : read_file(hostfile_);
  say_in_message(remark_on(counts, hosts_in(hosts.value_or(""))));
  return {};
}

Result<void> Tally::note(const RankReport& report) {
  return change([&](Counts& counts) { apply(counts, report); });
}

void Tally::expect(const std::string& host, bool observed) {
  [[maybe_unused]] const auto written = change([&](Counts& counts) {
    if (!observed) counts.unobserved.insert(short_name(host));
  });
}

}  // namespace muster::agent::mpi
