#include "node/shim/session/terminal.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <termios.h>
#include <unistd.h>

#include <cstring>

namespace muster::node::shim {

Result<Terminal> open_terminal() {
  Terminal terminal;
  terminal.control = Fd(::open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC));
  if (!terminal.control.valid()) return fail_errno("open /dev/ptmx");
  const int unlocked = 0;
  if (::ioctl(terminal.control.get(), TIOCSPTLCK, &unlocked) != 0)
    return fail_errno("unlock a terminal");
  // By its descriptor and not by its name: what /dev/pts is does not matter.
  terminal.program =
      Fd(::ioctl(terminal.control.get(), TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC));
  if (!terminal.program.valid()) return fail_errno("open a terminal");
  return terminal;
}

Result<void> take_control(const Fd& program) {
  if (::ioctl(program.get(), TIOCSCTTY, 0) != 0) return fail_errno("take a terminal");
  return {};
}

void set_window_size(const Fd& control, int columns, int rows) {
  winsize size{};
  size.ws_col = static_cast<unsigned short>(columns);
  size.ws_row = static_cast<unsigned short>(rows);
  ::ioctl(control.get(), TIOCSWINSZ, &size);
}

std::string end_of_lines(const Fd& control) {
  termios settings{};
  if (::tcgetattr(control.get(), &settings) != 0 || (settings.c_lflag & ICANON) == 0) return {};
  return std::string(1, static_cast<char>(settings.c_cc[VEOF]));
}

void send_descriptor(int socket, const Fd& descriptor) {
  char byte = 0;
  iovec data{.iov_base = &byte, .iov_len = 1};
  alignas(cmsghdr) char space[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = space;
  message.msg_controllen = sizeof space;
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int));
  const int number = descriptor.get();
  std::memcpy(CMSG_DATA(header), &number, sizeof number);
  [[maybe_unused]] const auto sent = ::sendmsg(socket, &message, MSG_NOSIGNAL);
}

Received receive_descriptor(int socket) {
  char bytes[1024];
  iovec data{.iov_base = bytes, .iov_len = sizeof bytes};
  alignas(cmsghdr) char space[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = space;
  message.msg_controllen = sizeof space;
  const auto got = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  Received received;
  if (got <= 0) return received;
  const cmsghdr* header = CMSG_FIRSTHDR(&message);
  if (header != nullptr && header->cmsg_type == SCM_RIGHTS) {
    int number = -1;
    std::memcpy(&number, CMSG_DATA(header), sizeof number);
    received.descriptor = Fd(number);
  } else {
    received.text.assign(bytes, static_cast<std::size_t>(got));
  }
  return received;
}

}  // namespace muster::node::shim
