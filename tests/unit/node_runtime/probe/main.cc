// What the containers of the runtime's tests run.
//   serve PORT TEXT    answers every connection with TEXT
//   fetch HOST PORT    prints what the peer says; exit 7 when it refuses, 8 for any other reason
//   eat MEBIBYTES      takes that much memory and touches it
//   daemon             leaves a process behind that has its own session and ignores SIGTERM
#include <netdb.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

int serve(int port, const std::string& text) {
  const int listener = ::socket(AF_INET, SOCK_STREAM, 0);
  const int on = 1;
  ::setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  if (::bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) return 1;
  if (::listen(listener, 16) != 0) return 1;
  std::puts("listening");
  std::fflush(stdout);
  while (true) {
    const int peer = ::accept(listener, nullptr, nullptr);
    if (peer < 0) return 1;
    [[maybe_unused]] const auto sent = ::write(peer, text.data(), text.size());
    ::close(peer);
  }
}

int fetch(const char* host, const char* port) {
  addrinfo hints{};
  hints.ai_family = AF_INET;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (::getaddrinfo(host, port, &hints, &found) != 0) return 9;
  const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
  if (::connect(fd, found->ai_addr, found->ai_addrlen) != 0) {
    const int error = errno;
    std::perror("connect");
    return error == ECONNREFUSED ? 7 : 8;
  }
  char chunk[256];
  while (true) {
    const auto got = ::read(fd, chunk, sizeof chunk);
    if (got <= 0) break;
    std::fwrite(chunk, 1, static_cast<std::size_t>(got), stdout);
  }
  return 0;
}

int eat(std::size_t mebibytes) {
  const std::size_t size = mebibytes << 20U;
  void* memory = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return 3;
  std::memset(memory, 1, size);
  std::puts("full");
  return 0;
}

int leave_daemon() {
  if (::fork() == 0) {
    ::setsid();
    if (::fork() == 0) {
      ::signal(SIGTERM, SIG_IGN);
      ::signal(SIGHUP, SIG_IGN);
      while (true) ::pause();
    }
    ::_exit(0);
  }
  ::usleep(50'000);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  if (what == "serve" && argc == 4) return serve(std::atoi(argv[2]), argv[3]);
  if (what == "fetch" && argc == 4) return fetch(argv[2], argv[3]);
  if (what == "eat" && argc == 3) return eat(static_cast<std::size_t>(std::atoi(argv[2])));
  if (what == "daemon") return leave_daemon();
  return 2;
}
