"""Plays the lives of pods: writes their status as kubelets would, from a few connections with many requests in flight."""

import json
import re
import resource
import subprocess
import time

CONTAINER = "mindspore"
IMAGE = {"name": CONTAINER, "image": "muster/trainer:latest", "imageID": "", "restartCount": 0}
STARTED = "2026-01-01T00:00:00Z"


def running():
    return _status("Running", "True", {"running": {"startedAt": STARTED}})


def ended(phase, exit_code):
    state = {"terminated": {"exitCode": exit_code, "reason": "Completed" if exit_code == 0 else "Error",
                            "startedAt": STARTED, "finishedAt": STARTED}}
    return _status(phase, "False", state)


def _status(phase, ready, state):
    conditions = [{"type": "Ready", "status": ready, "lastTransitionTime": STARTED}]
    container = {**IMAGE, "ready": ready == "True", "started": ready == "True", "state": state}
    return {"status": {"phase": phase, "startTime": STARTED, "conditions": conditions, "containerStatuses": [container]}}


class Player:
    """h2load with one body and many addresses: each is written once."""

    def __init__(self, identity, scratch, processes=2, in_flight=64):
        self.identity = identity
        self.scratch = scratch
        self.processes = processes
        self.in_flight = in_flight

    def play(self, paths, status):
        """Gives every pod this status. Seconds that it took."""
        body = self.scratch / "status.json"
        body.write_text(json.dumps(status, separators=(",", ":")))
        began = time.monotonic()
        started = [self.start(number, paths[number::self.processes], body)
                   for number in range(min(self.processes, len(paths)))]
        for process, count in started:
            text = process.communicate()[0]
            good = re.search(r"status codes: (\d+) 2xx", text)
            if process.returncode != 0 or not good or int(good.group(1)) != count:
                raise RuntimeError("h2load did not write every status:\n" + text)
        return time.monotonic() - began

    def start(self, number, paths, body):
        addresses = self.scratch / f"addresses-{number}.txt"
        addresses.write_text("".join(f"{self.identity.server}{path}/status\n" for path in paths))
        argv = ["h2load", "-n", str(len(paths)), "-c", "1", "-m", str(self.in_flight), "-i", str(addresses),
                "-d", str(body), "-H", ":method: PATCH", "-H", "content-type: application/merge-patch+json",
                "-H", f"authorization: Bearer {self.identity.token}"]
        process = subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        return process, len(paths)


def cpu_seconds():
    """Of the players that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
