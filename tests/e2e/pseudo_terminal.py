"""A terminal that keeps every byte a program sends it, with the time; fast enough for a flood."""
import fcntl
import os
import pty
import select
import struct
import subprocess
import termios
import time


class Recorded:
    """How a program ended, what it sent, when, and what it cost."""

    def __init__(self, code, pieces, seconds, cpu):
        self.code, self.pieces, self.seconds, self.cpu = code, pieces, seconds, cpu

    def text(self):
        return b"".join(piece for _, piece in self.pieces).decode("utf-8")

    def most_in_a_second(self, mark):
        """How often a mark came within one second, at most."""
        times, tail = [], b""
        for at, piece in self.pieces:
            seen = tail + piece
            times += [at] * seen.count(mark)
            tail = seen[-(len(mark) - 1):]
            if tail.endswith(mark):
                tail = b""
        return max((sum(1 for other in times if at <= other < at + 1) for at in times), default=0)


def record(argv, environment, columns=100, rows=30, limit=120):
    """Runs a program whose standard streams are one terminal."""
    ours, its = pty.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    begun = time.monotonic()
    process = subprocess.Popen([str(word) for word in argv], stdin=its, stdout=its, stderr=its, env=environment, start_new_session=True)
    os.close(its)
    pieces = []
    try:
        while time.monotonic() - begun < limit:
            if not select.select([ours], [], [], 1)[0]:
                continue
            try:
                piece = os.read(ours, 1 << 16)
            except OSError:  # nobody has the other end any more
                break
            if not piece:
                break
            pieces.append((time.monotonic(), piece))
    finally:
        os.close(ours)
        if time.monotonic() - begun >= limit:
            process.kill()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return Recorded(process.returncode, pieces, time.monotonic() - begun, usage.ru_utime + usage.ru_stime)
