#include "node/runtime/rootless/way_out.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

#include "base/spawn_settings.h"
#include "base/strings.h"
#include "base/time.h"
#include "node/linux/files.h"
#include "node/linux/netlink.h"
#include "node/runtime/rootless/shared_way_out.h"

namespace muster::node {

namespace {

// They take 20 ms; one that needs this long on a busy machine does not come any more.
constexpr Duration kPatience = std::chrono::seconds(5);

// Who gives pods a way out means the net, not what the machine keeps to itself on its loopback, and
// nobody comes in this way.
std::vector<std::string> words_of(const Carrier& carrier, int inside, bool own_users) {
  const auto process = std::to_string(inside);
  if (std::string_view(carrier.program) == "pasta") {
    std::vector<std::string> words{
        "pasta",     "--foreground", "--quiet", "--ipv4-only", "--config-net", "--no-map-gw",
        "--no-dhcp", "--tcp-ports",  "none",    "--udp-ports", "none",         "--tcp-ns",
        "none",      "--udp-ns",     "none",    "--ns-ifname", carrier.link};
    if (own_users) {
      words.push_back(process);
    } else {
      words.insert(words.end(), {"--netns-only", "--netns", "/proc/" + process + "/ns/net"});
    }
    return words;
  }
  std::vector<std::string> words{"slirp4netns",      "--configure",
                                 "--mtu=65520",      "--disable-host-loopback",
                                 "--enable-seccomp", "--netns-type=path"};
  if (own_users) words.push_back("--userns-path=/proc/" + process + "/ns/user");
  words.insert(words.end(), {"/proc/" + process + "/ns/net", carrier.link});
  return words;
}

std::string find_program(const std::string& path, const std::string& name) {
  for (const auto directory : split(path, ':')) {
    auto file = std::string(directory) + "/" + name;
    if (file.front() == '/' && ::access(file.c_str(), X_OK) == 0) return file;
  }
  return {};
}

bool is_served(const Carrier& carrier) {
  const auto routes = linux::read_file("/proc/thread-self/net/route");
  if (!routes) return false;
  return std::ranges::any_of(split(*routes, '\n'), [&](std::string_view line) {
    const auto fields = split(line, '\t');
    return fields.size() > 2 && fields[0] == carrier.link && fields[1] == "00000000";
  });
}

// Tells when routes of the network that we are in have changed.
Result<Fd> watch_routes() {
  Fd fd(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE));
  sockaddr_nl groups{};
  groups.nl_family = AF_NETLINK;
  groups.nl_groups = RTMGRP_IPV4_ROUTE;
  if (!fd.valid() || ::bind(fd.get(), reinterpret_cast<sockaddr*>(&groups), sizeof groups) != 0)
    return fail_errno("watch the routes");
  return fd;
}

void forget_signals() {
  for (int number = 1; number < NSIG; ++number) static_cast<void>(::signal(number, SIG_DFL));
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

}  // namespace

// A process outside that becomes the program as soon as it is told.
struct WayOut::Waiting {
  const Carrier& carrier;
  int pid = 0;
  Fd process;
  Fd told;
  Fd said;  // what it writes to its standard error

  Waiting(const Carrier& of) : carrier(of) {}
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;
  ~Waiting() {
    if (pid <= 0) return;
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
  }

  Result<void> start(const std::string& file, std::vector<std::string> words);
  [[noreturn]] void wait_and_become(const char* file, char* const* words, int tell, int parent);
  Result<void> serve();
  Result<void> wait_until_served(const Fd& routes);
};

Result<void> WayOut::Waiting::start(const std::string& file, std::vector<std::string> words) {
  said = Fd(::memfd_create("muster-way-out", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  std::array<int, 2> ends{};
  if (!said.valid() || ::pipe2(ends.data(), O_CLOEXEC) != 0) return fail_errno("pipe");
  const Fd tell(ends[0]);
  told = Fd(ends[1]);
  const auto arguments = spawn_words(words);
  const int parent = ::getpid();
  pid = ::fork();
  if (pid < 0) return fail_errno("fork");
  if (pid == 0) wait_and_become(file.c_str(), arguments.data(), tell.get(), parent);
  process = Fd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0U)));
  if (!process.valid()) return fail_errno("pidfd");
  return {};
}

void WayOut::Waiting::wait_and_become(const char* file, char* const* words, int tell, int parent) {
  // From now on it ends with us; if we have ended before, nobody tells it anything.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(0);
  ::setsid();  // Ctrl-C in our terminal is for us
  forget_signals();
  char letter = 0;
  told.close();
  if (::read(tell, &letter, 1) != 1) ::_exit(0);
  const int nothing = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  ::dup2(nothing, 0);
  ::dup2(nothing, 1);
  ::dup2(said.get(), 2);
  if (::chdir("/") != 0) ::_exit(126);
  ::syscall(SYS_close_range, 3U, ~0U, CLOSE_RANGE_CLOEXEC);
  ::execv(file, words);
  ::_exit(127);
}

Result<void> WayOut::Waiting::wait_until_served(const Fd& routes) {
  const SystemClock clock;
  const Monotonic end = clock.monotonic() + kPatience;
  while (!is_served(carrier)) {
    const auto left = end - clock.monotonic();
    if (left <= Duration::zero())
      return fail(ErrorCode::Timeout, fmt::format("{} does not begin", carrier.program));
    std::array<pollfd, 2> events{pollfd{.fd = routes.get(), .events = POLLIN, .revents = 0},
                                 pollfd{.fd = process.get(), .events = POLLIN, .revents = 0}};
    ::poll(events.data(), events.size(),
           static_cast<int>(std::chrono::ceil<std::chrono::milliseconds>(left).count()));
    if (events[1].revents != 0) {
      std::array<char, 4096> text{};
      const auto size = ::pread(said.get(), text.data(), text.size(), 0);
      return fail(ErrorCode::Unavailable,
                  fmt::format("{}: {}", carrier.program,
                              last_words({text.data(), size > 0 ? static_cast<size_t>(size) : 0})));
    }
    std::array<char, 4096> change{};
    while (::recv(routes.get(), change.data(), change.size(), 0) > 0) continue;
  }
  return {};
}

Result<void> WayOut::Waiting::serve() {
  const auto routes = TRY(watch_routes());
  if (::write(told.get(), "", 1) != 1) return fail_errno(carrier.program);
  TRY(wait_until_served(routes));
  // Nobody reads what it says from now on, so it shall take no memory.
  ::fcntl(said.get(), F_ADD_SEALS, F_SEAL_GROW);
  return {};
}

WayOut::WayOut() = default;
WayOut::~WayOut() = default;

std::unique_ptr<WayOut> WayOut::prepare(const std::string& path, bool own_users) {
  std::unique_ptr<WayOut> out(new WayOut());
  for (const auto& carrier : kCarriers) {
    const auto file = find_program(path, carrier.program);
    if (file.empty()) continue;
    auto waiting = std::make_unique<Waiting>(carrier);
    if (waiting->start(file, words_of(carrier, ::getpid(), own_users)))
      out->waiting_.push_back(std::move(waiting));
  }
  return out;
}

Result<void> WayOut::open() {
  if (waiting_.empty())
    return fail(ErrorCode::NotFound, "neither pasta nor slirp4netns is installed");
  std::vector<std::string> problems;
  while (!waiting_.empty()) {
    const auto served = waiting_.front()->serve();
    if (served) {
      waiting_.erase(waiting_.begin() + 1, waiting_.end());
      return share_way_out(waiting_.front()->carrier.link);
    }
    problems.push_back(served.error().message);
    waiting_.erase(waiting_.begin());
  }
  return fail(ErrorCode::Unavailable, join(problems, "; "));
}

Fd WayOut::ended() const {
  if (waiting_.empty()) return {};
  return Fd(::fcntl(waiting_.front()->process.get(), F_DUPFD_CLOEXEC, 0));
}

const Carrier* present_carrier() {
  for (const auto& carrier : kCarriers)
    if (linux::link_exists(carrier.link)) return &carrier;
  return nullptr;
}

std::string carriers_to_install() {
  return "pasta (package passt) or slirp4netns";
}

std::string last_words(std::string_view text) {
  std::string_view last = "it ended without a word";
  for (const auto line : split(text, '\n')) {
    auto words = trim(line);
    // pasta complains of a machine without a system log for each line that it writes.
    if (words.empty() || words.starts_with("Failed to send ")) continue;
    if (const auto colon = words.find(": ");
        colon != std::string_view::npos &&
        words.substr(0, colon).find_first_not_of("0123456789.") == std::string_view::npos)
      words.remove_prefix(colon + 2);
    last = words;
  }
  return std::string(last.substr(0, 300));
}

}  // namespace muster::node
