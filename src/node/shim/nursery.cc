#include "node/shim/nursery.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "node/shim/protocol.h"
#include "node/shim/root/root.h"

namespace muster::node::shim {

namespace {

// A message has two descriptors beside its bytes.
using Descriptors = std::array<int, 2>;  // lock, ready

struct Message {
  explicit Message(char* bytes, std::size_t size) : data{.iov_base = bytes, .iov_len = size} {
    head.msg_iov = &data;
    head.msg_iovlen = 1;
    head.msg_control = space;
    head.msg_controllen = sizeof space;
  }
  Message(const Message&) = delete;
  Message& operator=(const Message&) = delete;

  iovec data;
  alignas(cmsghdr) char space[CMSG_SPACE(sizeof(Descriptors))] = {};
  msghdr head{};
};

// Nothing: nobody can ask any more.
std::optional<Birth> receive(const Fd& births) {
  while (true) {
    std::array<char, kMostBirthBytes> bytes;
    Message message(bytes.data(), bytes.size());
    const auto got = ::recvmsg(births.get(), &message.head, MSG_CMSG_CLOEXEC);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return std::nullopt;
    const cmsghdr* beside = CMSG_FIRSTHDR(&message.head);
    // The kernel leaves descriptors out when we may have no more of them.
    if (beside == nullptr || beside->cmsg_len != CMSG_LEN(sizeof(Descriptors))) continue;
    Descriptors handed{};
    std::memcpy(handed.data(), CMSG_DATA(beside), sizeof handed);
    Birth birth{.lock = Fd(handed[0]), .ready = Fd(handed[1])};
    Reader in({bytes.data(), static_cast<std::size_t>(got)});
    birth.directory = in.text();
    read_all(in, birth.rules);
    if (!in.finished()) continue;  // who asked sees that nobody answers any more
    return birth;
  }
}

}  // namespace

std::vector<std::string> nursery_words(const std::string& home_key) {
  // Room for what `ps` shows of the shims: a process can change its words, not their length.
  constexpr std::size_t kRoom = 256;
  return {"nursery", home_key, std::string(kRoom, ' ')};
}

std::string birth_message(const std::string& directory, const std::vector<ServiceRule>& rules) {
  Writer out;
  out.text(directory);
  write_all(out, rules);
  return out.bytes();
}

Result<void> send_birth(const Fd& nursery, std::string bytes, const Fd& lock, const Fd& ready) {
  Message message(bytes.data(), bytes.size());
  cmsghdr* beside = CMSG_FIRSTHDR(&message.head);
  beside->cmsg_level = SOL_SOCKET;
  beside->cmsg_type = SCM_RIGHTS;
  beside->cmsg_len = CMSG_LEN(sizeof(Descriptors));
  const Descriptors handed{lock.get(), ready.get()};
  std::memcpy(CMSG_DATA(beside), handed.data(), sizeof handed);
  while (::sendmsg(nursery.get(), &message.head, MSG_NOSIGNAL) < 0) {
    if (errno != EINTR) return fail_errno("ask for a shim");
  }
  return {};
}

Result<std::optional<Birth>> tend(Fd births) {
  auto empty = TRY(make_empty_namespace());
  // Nobody waits for a shim: its pod is over when the lock is free.
  static_cast<void>(::signal(SIGCHLD, SIG_IGN));
  while (auto birth = receive(births)) {
    const int pid = ::fork();
    if (pid < 0) tell_outcome(birth->ready, fail_errno("fork"));
    if (pid != 0) continue;
    static_cast<void>(::signal(SIGCHLD, SIG_DFL));
    ::setsid();
    births.close();
    if (::dup3(birth->lock.get(), kLockDescriptor, O_CLOEXEC) < 0) return fail_errno("dup3");
    birth->lock = Fd(kLockDescriptor);
    birth->empty = std::move(empty);
    return birth;
  }
  return std::nullopt;
}

void tell_outcome(Fd& ready, const Result<void>& outcome) {
  const auto answer = outcome ? Writer().number(0).bytes() : answer_error(outcome.error());
  const auto bytes = frame(with_version(answer));
  [[maybe_unused]] const auto sent = ::write(ready.get(), bytes.data(), bytes.size());
  ready.close();
}

}  // namespace muster::node::shim
