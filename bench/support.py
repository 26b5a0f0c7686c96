"""What the benchmarks share: the machine in words, percentiles, process figures, and the results file."""

import datetime
import json
import math
import os
import pathlib
import platform
import signal
import sys
import time

sys.dont_write_bytecode = True  # leave the source tree as it is

BENCH = pathlib.Path(__file__).resolve().parent
ROOT = BENCH.parent


def end_cleanly_on_signals():
    """A terminated benchmark takes with it what it started, as one that fails does."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda got, _frame: sys.exit(128 + got))


def binaries():
    """The folder of the programs under test."""
    folder = pathlib.Path(os.environ.get("MUSTER_BIN", ROOT / "build/release")).resolve()
    for name in ("muster", "muster-shim"):
        if not (folder / name).exists():
            sys.exit(f"error: {folder / name} does not exist; ./dev bench builds it, MUSTER_BIN names another folder")
    return folder


def machine():
    """Cores, memory, kernel and load; nothing that names the machine."""
    return {"cores": os.cpu_count(), "memory_gib": round(_meminfo("MemTotal") / 2**20, 1),
            "cpu": _cpu_model(), "kernel": platform.release(), "load_before": round(os.getloadavg()[0], 2)}


def percentile(values, share):
    """The nearest-rank percentile: always one of the values."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]


def median(values):
    ordered = sorted(values)
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2


def rss_mb(pid):
    """Resident memory as the kernel counts it, shared libraries included, in MB (10^6 bytes)."""
    return round(_field(f"/proc/{pid}/status", "VmRSS") * 1024 / 1e6, 1)


def peak_rss_mb(pid):
    return round(_field(f"/proc/{pid}/status", "VmHWM") * 1024 / 1e6, 1)


def cpu_seconds(pid):
    """User and system time of a process, its threads included."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def wait_until(condition, what, timeout, pause=0.01):
    deadline = time.monotonic() + timeout
    while True:
        answer = condition()
        if answer:
            return answer
        if time.monotonic() > deadline:
            raise TimeoutError(f"{what}: not within {timeout} s")
        time.sleep(pause)


def say(text):
    print(text, flush=True)


def finish(name, description, measured, targets, keep):
    """Prints the table, then the JSON line; with `keep` also writes bench/results/NAME.json."""
    missed = []
    say("")
    for key, value in measured.items():
        target = targets.get(key)
        verdict = ""
        if target is not None:
            met = value is not None and value <= target  # what could not be measured is not met
            verdict = f"  target {target}  {'met' if met else 'MISSED'}"
            if not met:
                missed.append(key)
        if not isinstance(value, (list, dict)):
            say(f"{key:32} {value!s:>10}{verdict}")
    result = {"benchmark": name, "date": datetime.date.today().isoformat(),
              "machine": {**description, "load_after": round(os.getloadavg()[0], 2)},
              **measured, "targets": targets, "missed": missed}
    if keep:
        path = BENCH / "results" / f"{name}.json"
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(result, indent=1) + "\n")
        say(f"written to {path.relative_to(ROOT)}")
    say(json.dumps(result))
    return 1 if missed else 0


def _cpu_model():
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()


def _meminfo(key):
    return _field("/proc/meminfo", key)


def _field(path, key):
    for line in pathlib.Path(path).read_text().splitlines():
        if line.startswith(key + ":"):
            return int(line.split()[1])
    raise KeyError(f"{path} has no {key}")
