#include <csignal>
#include <string>
#include <vector>

#include "agent/verbs.h"
#include "net/tls/tls.h"

int main(int argc, char** argv) {
  // A reader that went away ends us like any filter; a socket that did must not.
  static_cast<void>(std::signal(SIGPIPE, SIG_IGN));
  muster::net::ignore_installed_tls_settings();
  return muster::agent::run_program(std::vector<std::string>(argv + 1, argv + argc));
}
