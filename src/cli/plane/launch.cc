#include "cli/plane/launch.h"

#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>

#include <fmt/format.h>

#include "api/status.h"
#include "base/spawn.h"
#include "json/read.h"
#include "json/write.h"

namespace muster::cli {
namespace {

// A name and an error with all its causes.
constexpr std::size_t kLongestAnswer = std::size_t{1} << 20U;

// A plane that cannot start has little to end.
constexpr Duration kPatience = std::chrono::seconds(15);

std::vector<std::string> words_for(const Context& context, const json::Value& settings) {
  std::vector<std::string> words{"muster", "--home", context.home, "plane"};
  for (const json::Value& file : settings["images"].as_array()) {
    words.emplace_back("--images");
    words.push_back(file.as_string());
  }
  for (const auto& [resource, count] : settings["capacity"].as_object()) {
    words.emplace_back("--capacity");
    words.push_back(fmt::format("{}={}", resource, count.as_int()));
  }
  if (const std::string& image = settings["agentImage"].as_string(); !image.empty()) {
    words.emplace_back("--agent-image");
    words.push_back(image);
  }
  return words;
}

}  // namespace

Result<void> make_home(const std::string& home) {
  std::error_code error;
  std::filesystem::create_directories(home, error);
  if (error) return fail(ErrorCode::Io, fmt::format("cannot make {}: {}", home, error.message()));
  std::filesystem::permissions(home, std::filesystem::perms::owner_all, error);
  return {};
}

std::string plane_log_path(const std::string& home) {
  return home + "/plane.log";
}

Result<std::unique_ptr<LaunchedPlane>> LaunchedPlane::launch(Context& context,
                                                             server::HomeLock lock,
                                                             const json::Value& settings,
                                                             const std::string& program) {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends.data()) != 0)
    return fail_errno("socketpair");
  Fd ours(ends[0]);
  const Fd theirs(ends[1]);
  static_assert(kPlaneLock == 3 && kPlaneStarter == 4);
  const auto pid = spawn_apart({.program = program,
                                .words = words_for(context, settings),
                                .handed = {lock.descriptor(), theirs.get()},
                                .environment = own_environment()});
  if (!pid) return fail(pid.error().in("start a control plane"));
  return std::unique_ptr<LaunchedPlane>(new LaunchedPlane(context.loop, std::move(ours), *pid));
}

LaunchedPlane::LaunchedPlane(rt::RealLoop& loop, Fd socket, int pid)
    : loop_(loop), socket_(loop, socket.release()), pid_(pid) {}

LaunchedPlane::~LaunchedPlane() {
  // One that has ended already is not left as a zombie for as long as we live.
  ::waitpid(pid_, nullptr, WNOHANG);
}

Task<Result<void>> LaunchedPlane::ready() {
  std::string text;
  while (!text.ends_with('\n') && text.size() < kLongestAnswer) {
    std::array<char, 4096> piece{};
    const ssize_t count = ::read(socket_.fd(), piece.data(), piece.size());
    if (count > 0) {
      text.append(piece.data(), static_cast<std::size_t>(count));
    } else if (count < 0 && errno == EAGAIN) {
      CO_TRY(co_await socket_.readable());
    } else if (count == 0 || errno != EINTR) {
      co_return fail(ErrorCode::Gone, "the control plane ended while it started");
    }
  }
  const json::Value answer = CO_TRY(json::read(text));
  if (answer["status"].as_string() == "Success") co_return Result<void>{};
  co_await wait_until_gone(loop_, pid_, kPatience);
  co_return fail(api::error_from_status(200, answer));
}

Task<void> wait_until_gone(rt::RealLoop& loop, int pid, Duration limit) {
  const int process = static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
  if (process < 0) co_return;  // it is
  rt::Descriptor ended(loop, process);
  [[maybe_unused]] const auto waited = co_await rt::with_timeout(loop, limit, ended.readable());
}

void tell_starter(int socket, const Result<void>& started) {
  const json::Value answer =
      started ? json::Value(json::Object{{"status", "Success"}}) : api::status_of(started.error());
  const std::string line = json::write(answer) + "\n";
  // Whoever started us may be gone; then nobody wants to know.
  [[maybe_unused]] const auto sent = ::send(socket, line.data(), line.size(), MSG_NOSIGNAL);
}

}  // namespace muster::cli
