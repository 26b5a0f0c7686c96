// Holds the namespaces of a pod on the real node of the tests: waits for the signal that ends it, and reaps what it is given.
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void end(int number) { _exit(number == SIGTERM || number == SIGINT ? 0 : 1); }
static void reap(int number) {
  (void)number;
  while (waitpid(-1, NULL, WNOHANG) > 0) {
  }
}

int main(void) {
  signal(SIGTERM, end);
  signal(SIGINT, end);
  signal(SIGCHLD, reap);
  for (;;) pause();
}
