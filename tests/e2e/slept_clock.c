/* Preloaded into a program to make it believe that its machine slept. The file that SLEPT_CLOCK names holds two numbers of
 * milliseconds: by how much CLOCK_MONOTONIC and CLOCK_BOOTTIME are behind. A sleep: only the first. A virtual machine that
 * was paused and whose wall clock was set afterwards: both. The file is read at each look at a clock, so the process sees
 * the change as it is continued. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static long behind(clockid_t clock) {
  const char* path = getenv("SLEPT_CLOCK");
  if (!path || (clock != CLOCK_MONOTONIC && clock != CLOCK_BOOTTIME)) return 0;
  char text[64] = {0};
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  const ssize_t size = read(fd, text, sizeof text - 1);
  close(fd);
  if (size <= 0) return 0;
  char* second = text;
  const long monotonic = strtol(text, &second, 10);
  return clock == CLOCK_MONOTONIC ? monotonic : strtol(second, NULL, 10);
}

int clock_gettime(clockid_t clock, struct timespec* now) {
  const long result = syscall(SYS_clock_gettime, clock, now);
  const long milliseconds = behind(clock);
  if (result != 0 || milliseconds == 0) return (int)result;
  now->tv_sec -= milliseconds / 1000;
  now->tv_nsec -= milliseconds % 1000 * 1000000;
  if (now->tv_nsec < 0) {
    now->tv_nsec += 1000000000;
    --now->tv_sec;
  }
  return 0;
}
