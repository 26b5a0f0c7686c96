"""The words in which every suite is written: checks, waits, the conditions of a job, and the suite that counts."""
import contextlib
import os
import pathlib
import signal
import sys
import time
import traceback

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BIN = (ROOT / os.environ.get("MUSTER_BIN", "build/release")).resolve()
# The machine may be busy with other things: generous, because a condition that holds ends a wait at once.
PATIENCE = 60


class Failure(Exception):
    """A check that did not hold; its text says what was seen."""


class Final(Failure):
    """A failure that time does not mend: it ends a wait at once."""


def check(holds, text):
    """Text may be a function, for what is costly or makes sense only when the check fails."""
    if not holds:
        raise Failure(text() if callable(text) else text)


def equal(seen, wanted, what):
    """Of two dictionaries only what differs is told."""
    if isinstance(seen, dict) and isinstance(wanted, dict):
        absent = object()
        keys = [key for key in {**seen, **wanted} if seen.get(key, absent) != wanted.get(key, absent)]
        seen, wanted = ({key: value for key, value in side.items() if key in keys} for side in (seen, wanted))
    check(seen == wanted, lambda: f"{what}: {seen!r}, not {wanted!r}")


def contains(text, part, what):
    check(part in text, lambda: f"{what}: no {part!r} in {text[-2000:]!r}")


def wait_until(condition, what, limit=PATIENCE, pause=0.05):
    """The first true value of the condition; Failure when there is none in time. A Failure inside it means: not yet."""
    latest = time.monotonic() + limit
    while True:
        seen = ""
        try:
            value = condition()
            if value:
                return value
        except Final:
            raise
        except Failure as failure:
            seen = f": {failure}"
        if time.monotonic() > latest:
            raise Failure(f"waited {limit} s for {what}{seen}")
        time.sleep(pause)


def stays(look, what, seconds=3, pause=0.3):
    """What a look shows now it shows for so long: that nothing happens cannot be waited for in another way."""
    before, until = look(), time.monotonic() + seconds
    while time.monotonic() < until:
        time.sleep(pause)
        equal(look(), before, what)


# --- what a job says of itself

def conditions(job):
    """Type → condition, whatever its status."""
    return {one["type"]: one for one in all_conditions(job)}


def condition(job, kind):
    """The condition of a type when it is True, or None."""
    return next((one for one in all_conditions(job) if one["type"] == kind and one["status"] == "True"), None)


def finished_as(job):
    """Succeeded, Failed or None."""
    return next((kind for kind in ("Succeeded", "Failed") if condition(job, kind)), None)


def state(job):
    """What the State column shows: the type of the last condition."""
    held = all_conditions(job)
    return held[-1]["type"] if held else ""


def all_conditions(job):
    return job.get("status", {}).get("conditions", [])


# --- suites

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextlib.contextmanager
def uninterrupted():
    """A clean-up that comes to its end: the signals that end the program wait for it."""
    seen = []
    before = {number: signal.signal(number, lambda number, _: seen.append(number)) for number in ENDING}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    if seen:
        sys.exit(128 + seen[0])


class Suite:
    """Runs tests in order and prints a line for each; leaving it prints the totals and ends the program with the right code.

    The words of the command line choose tests by their names. Whatever ends the program, what it holds is cleaned up first.
    """

    def __init__(self):
        self.passed = self.failed = self.skipped = 0
        self.words = sys.argv[1:]
        sys.stdout.reconfigure(line_buffering=True)
        for number in ENDING:
            signal.signal(number, lambda number, _: sys.exit(128 + number))

    def __enter__(self):
        missing = [name for name in ("muster", "muster-shim", "muster-trainer") if not (BIN / name).exists()]
        if missing:
            self.fail("setup", Failure(f"{', '.join(missing)} not in {BIN}"))
            self.close()
            self.finish()
        return self

    def __exit__(self, _kind, error, _trace):
        broken = isinstance(error, Exception)
        if broken:
            self.fail("setup", error)
        self.close()
        if broken or error is None:
            self.finish()

    def close(self):
        """Ends what the suite itself holds."""

    def wants(self, name):
        """Whether the command line chose a test of that name."""
        return not self.words or any(word in name for word in self.words)

    def test(self, name, body, *arguments):
        """One named test. What its body returns is passed on; None when it failed or was not chosen."""
        if not self.wants(name):
            return None
        begun = time.monotonic()
        try:
            result = body(*arguments)
        except Exception as error:  # a broken test is a failed one, the others still run
            self.fail(name, error)
            return None
        self.passed += 1
        print(f"ok {name} ({time.monotonic() - begun:.1f} s)")
        return result

    def skip(self, name, why):
        self.skipped += 1
        print(f"skipped {name}: {why}")

    def fail(self, name, error):
        self.failed += 1
        if isinstance(error, Failure):
            print(f"FAIL {name}: {error}")
        else:
            print(f"FAIL {name}: {type(error).__name__}: {error}")
            traceback.print_exception(error, file=sys.stdout)

    def finish(self):
        print(f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped")
        sys.exit(1 if self.failed or not (self.passed or self.skipped) else 0)
