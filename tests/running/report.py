"""What the test command prints: a line for each check as it ends, what it says besides below it, and the totals."""
import collections
import re
import threading


class Report:
    """What passed, failed and was skipped so far; every check adds to it, from any thread."""

    def __init__(self):
        self.lock = threading.Lock()
        self.passed = self.failed = self.skipped = 0
        self.cpu = 0.0
        self.failures = []

    def add(self, name, counts, seconds, cpu, detail="", below=()):
        """One check with its (passed, failed, skipped) and the lines below it."""
        passed, failed, skipped = counts
        with self.lock:
            if failed:
                self.failures.append(name)
            self.passed += passed
            self.failed += failed
            self.skipped += skipped
            self.cpu += cpu
            word = "FAIL" if failed else "ok"
            line = f"{word:4} {name:28} {passed:5} passed {failed:3} failed {skipped:3} skipped {seconds:7.1f} s {cpu:7.1f} s CPU {detail}"
            print("\n".join([line.rstrip(), *below]), flush=True)


def told(lines):
    return ["    | " + line for line in lines]


def notes(log):
    """What a check says besides: its lines `note: …`."""
    return [f"     {note}" for note in re.findall(r"^note: (.*)$", log.read_text(errors="replace"), re.M)]


def sums(logs):
    """What the processes of a program counted, added up: their lines `sum: NAME NUMBER`."""
    found = collections.Counter()
    for log in logs:
        for name, number in re.findall(r"^sum: (.+) (\d+)$", log.read_text(errors="replace"), re.M):
            found[name] += int(number)
    return ["     " + ", ".join(f"{name} {number:,}" for name, number in found.items())] if found else []


def tail(log, lines=60):
    return told(log.read_text(errors="replace").splitlines()[-lines:])


def failures(log, lines=12):
    """What a suite says of each test that failed; of one that broke off the end."""
    text = log.read_text(errors="replace").splitlines()
    found = [number for number, line in enumerate(text) if line.startswith("FAIL ")]
    return [line for number in found for line in told(text[number:number + lines])] or tail(log)


def failed_tests(log, lines=30):
    """What the failed tests of a GoogleTest program printed, the first lines of each; of a crash the end."""
    text = log.read_text(errors="replace").splitlines()
    begin, found = 0, []
    for number, line in enumerate(text):
        if line.startswith("[ RUN "):
            begin = number
        elif line.startswith("[  FAILED  ]") and text[begin].startswith("[ RUN ") and number > begin:
            found += told([*text[begin:number][:lines], line])
            begin = number
    return found or tail(log)
