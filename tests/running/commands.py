"""The commands of checks: each with its output in a log, in its own session, measured, and ended in time."""
import collections
import contextlib
import functools
import os
import pathlib
import re
import signal
import subprocess
import sys
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
LOGS = ROOT / "build" / "test-logs"
REAPER = pathlib.Path(__file__).with_name("reaper.py")
FAREWELL = 60  # seconds for a suite to clean up after itself once it was told to end

Ended = collections.namedtuple("Ended", "code seconds cpu log")


class Interrupted(Exception):
    """Somebody ended the run; what had not begun does not."""


@functools.lru_cache(maxsize=None)
def can_be_apart():
    """Whether a command can have a network and mounts of its own here."""
    return subprocess.run(["unshare", "--net", "--mount", "true"], capture_output=True, check=False).returncode == 0


class Commands:
    """Any number of threads run commands at once; `end` ends all of them."""

    def __init__(self):
        self.lock = threading.RLock()  # a signal may call `end` in the midst of `start`
        self.running = set()
        self.ended = False

    def run(self, name, command, limit, env=None, options=()):
        log = LOGS / (re.sub(r"[^A-Za-z0-9._-]", "_", name) + ".log")
        begun = time.monotonic()
        told, tells = os.pipe()
        with log.open("wb") as out, contextlib.closing(os.fdopen(told, "rb")) as usage:
            process = self.start([sys.executable, "-B", REAPER, *options, str(tells), *map(str, command)], out, tells, {**os.environ, **(env or {})})
            try:
                code = process.wait(limit)
            except subprocess.TimeoutExpired:
                out.write(f"\nended after {limit} s\n".encode())
                self.stop(process)
                code = 124
            with self.lock:
                self.running.discard(process)
            cpu = float(usage.read() or 0)
        if self.ended:
            raise Interrupted
        return Ended(code, time.monotonic() - begun, cpu, log)

    def start(self, command, out, tells, env):
        with self.lock:
            try:
                if self.ended:
                    raise Interrupted
                # A session of its own: Linux weighs the sessions, so what may wait can be told to, and a Ctrl-C comes from us alone.
                process = subprocess.Popen(command, cwd=ROOT, stdout=out, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, env=env,
                                           pass_fds=(tells,), start_new_session=True)
            finally:
                os.close(tells)
            self.running.add(process)
            return process

    @staticmethod
    def stop(process):
        """Kindly, so that a suite ends what it started; then by force, with all of its session."""
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(FAREWELL)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    def end(self):
        with self.lock:
            self.ended = True
            for process in self.running:
                process.send_signal(signal.SIGTERM)
