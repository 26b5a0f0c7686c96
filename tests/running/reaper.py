"""Runs a command as the new parent of every process that it leaves behind, and tells the CPU seconds that all of them took.

usage: reaper.py [--apart] [--last] FD COMMAND…   the seconds are written to the descriptor FD
  --apart: in a network, and with a /tmp/muster-example, of its own
  --last: only with the time that everybody else leaves
"""
import contextlib
import ctypes
import os
import pathlib
import resource
import signal
import subprocess
import sys

PR_SET_CHILD_SUBREAPER = 36
ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
# A machine has an address besides the loopback's; this one is of a range that is nobody's. The examples' checkpoints lie below
# /tmp/muster-example; who else removes them would do so in the midst of ours.
APART = ["unshare", "--net", "--mount", "--propagation", "private", "sh", "-ec",
         "ip link set lo up; ip link add machine type bridge; ip address add 192.0.2.77/32 dev machine; ip link set machine up; "
         'mkdir -p /tmp/muster-example; mount -t tmpfs apart /tmp/muster-example; exec "$@"', "apart"]


def step_back():
    """Behind the others: within its session by its niceness, among sessions, where Linux weighs those, by the session's."""
    os.nice(15)
    with contextlib.suppress(OSError):
        pathlib.Path("/proc/self/autogroup").write_text("15")


def run(command):
    """Its exit code, once it has ended. What it left is reaped as it ends, for as long; later it is the machine's."""
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    child = subprocess.Popen(command)
    for number in ENDING:
        signal.signal(number, lambda number, _: os.kill(child.pid, number))
    while True:
        pid, status = os.wait()
        if pid == child.pid:
            break
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    return os.waitstatus_to_exitcode(status)


def main():
    words = sys.argv[1:]
    options = {word for word in words[:2] if word in ("--apart", "--last")}
    fd, *command = words[len(options):]
    if "--last" in options:
        step_back()
    code = run([*(APART if "--apart" in options else []), *command])
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    os.write(int(fd), f"{usage.ru_utime + usage.ru_stime:.2f}".encode())
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    sys.exit(main())
