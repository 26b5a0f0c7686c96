"""Ten jobs at a time while the control plane is killed in every phase of a job's life: what the suites that kill it share.

What a kill interrupted is judged from the store as the kill left it, not from what was aimed at.
"""
import collections
import json
import os
import random
import socket
import time

from checks import Failure, check, conditions, equal, finished_as, wait_until
from local_support import MSJOBS, PODS, Unix
from manifests import msjob, role

SEED = int(os.environ.get("MUSTER_SEED", "0")) or random.SystemRandom().randrange(1, 1 << 32)
JOBS = 10
WORKERS = 2
RANKS = WORKERS + 1
PHASES = ("create", "bind", "start", "running", "clean-up")
JOB_RESOURCE = "msjobs.mindspore.gitee.com"


def active(job):
    """How many workers run, as the job says; a new one has no status yet."""
    return job.get("status", {}).get("replicaStatuses", {}).get("Worker", {}).get("active", 0)


class Watch:
    """A watch of the API, read line by line with a deadline for all of it."""

    def __init__(self, it, path, limit):
        version = it.get(path + "?limit=1")["metadata"]["resourceVersion"]
        self.connection = Unix(it.path / "muster.sock")
        self.connection.request("GET", f"{path}?watch=1&resourceVersion={version}")
        self.answer = self.connection.getresponse()
        self.latest = time.monotonic() + limit

    def __iter__(self):
        while time.monotonic() < self.latest:
            self.connection.sock.settimeout(max(0.01, self.latest - time.monotonic()))
            try:
                line = self.answer.readline()
            except (TimeoutError, socket.timeout):
                return
            if not line:
                return
            event = json.loads(line)
            yield event["type"], event["object"]

    def close(self):
        self.connection.close()


class Campaign:
    def __init__(self, it):
        self.it = it
        self.random = random.Random(SEED)
        self.locks = it.files / "locks"
        self.starts = it.files / "starts"
        self.starts.mkdir()
        self.acknowledged = {}  # name → uid
        self.judged = collections.Counter()
        self.ready_times = []

    # --- jobs

    def manifest(self, name):
        """Some seconds of lock-step training; any disturbance of a rank fails it, because nothing is restarted. Each execution of
        a rank leaves a line, and holds a lock. The Scheduler stays until it is cleaned up."""
        words = ["muster-trainer", "--lock-dir", str(self.locks), "--epochs", "1", "--steps-per-epoch", str(self.random.randrange(30, 90)),
                 "--step-delay-ms", "50", "--batch", "4", "--hidden", "8"]
        started = f"echo started >> {self.starts}/$(hostname); "
        stays = started + 'trap "exit 0" TERM; ' + " ".join(words) + "; sleep 600 & wait"
        return msjob(name, None, "AllWorkers",
                     Scheduler=role(stays, 1, "Never", self.it.files),
                     Worker=role(started + "exec " + " ".join(words), WORKERS, "Never", self.it.files))

    def executions(self, name):
        """Rank → how often its program runs in the whole life of a job."""
        return {f"{name}-{part}": 1 for part in ("scheduler-0", "worker-0", "worker-1")}

    def create(self):
        """Creates a job; its name. What is acknowledged must never be lost."""
        name = f"job-{len(self.acknowledged)}"
        self.acknowledged[name] = self.it.create(self.manifest(name))["metadata"]["uid"]
        return name

    def live(self):
        return [job["metadata"]["name"] for job in self.it.get(MSJOBS)["items"] if not finished_as(job)]

    # --- aims: each waits for its moment and names the job that it is about

    def at_create(self):
        return self.create()

    def at_bind(self):
        return self.at_pod(lambda kind, pod: kind == "ADDED")

    def at_start(self):
        return self.at_pod(lambda kind, pod: pod["spec"].get("nodeName") and pod["status"].get("phase", "Pending") == "Pending")

    def at_pod(self, wanted):
        watch = Watch(self.it, PODS, 5)
        try:
            name = self.create()
            for kind, pod in watch:
                if pod["metadata"]["labels"].get("job-name") == name and wanted(kind, pod):
                    break
            return name
        finally:
            watch.close()

    def at_running(self):
        names = [job["metadata"]["name"] for job in self.it.get(MSJOBS)["items"] if not finished_as(job) and active(job) == WORKERS]
        time.sleep(self.random.uniform(0, 0.2))  # somewhere in its life, not at a moment of ours
        return self.random.choice(names) if names else None

    def at_clean_up(self):
        watch = Watch(self.it, MSJOBS, 5)
        try:
            for _, job in watch:
                if finished_as(job):
                    return job["metadata"]["name"]
            return None
        finally:
            watch.close()

    # --- kills

    def kill(self):
        """One kill at a moment of a phase, and the next control plane."""
        aim = self.choose()
        name = {"create": self.at_create, "bind": self.at_bind, "start": self.at_start, "running": self.at_running,
                "clean-up": self.at_clean_up}[aim]()
        self.it.up_process.kill()
        self.it.up_process.wait()
        self.judged[self.judge(name)] += 1
        begun = time.monotonic()
        self.start_next()
        self.ready_times.append(time.monotonic() - begun)

    def start_next(self):
        self.it.up()

    def choose(self):
        """The phase that had the fewest kills, or, every other time, any; a new job only when there is room for one."""
        # Once: on a machine that is slow jobs end while others are created.
        for _ in range(JOBS - 1 - len(self.live())):
            self.create()
        phases = PHASES if len(self.live()) < JOBS else PHASES[3:]
        if self.random.random() < 0.5:
            return self.random.choice(phases)
        return min(phases, key=lambda phase: self.judged[phase])

    def judge(self, name):
        """What the store says the job was in when the control plane died."""
        if name is None:
            return "other"
        job = next((job for job in self.it.stored(JOB_RESOURCE) if job["metadata"]["name"] == name), None)
        if job is None:
            raise Failure(f"{name} was acknowledged and is lost")
        pods = [pod for pod in self.it.stored("pods") if pod["metadata"]["labels"].get("muster.dev/job-uid") == job["metadata"]["uid"]]
        over = [pod["status"].get("phase") in ("Succeeded", "Failed") and "deletionTimestamp" not in pod["metadata"] for pod in pods]
        if finished_as(job):
            return "other" if all(over) else "clean-up"
        if len(pods) < RANKS:
            return "create"
        if not all(pod["spec"].get("nodeName") for pod in pods):
            return "bind"
        if any(pod["status"].get("phase", "Pending") == "Pending" for pod in pods):
            return "start"
        return "running"

    # --- the end

    def settle(self):
        for name in self.acknowledged:
            self.it.wait_finished(name, limit=120)

    def check_jobs(self):
        jobs = {job["metadata"]["name"]: job for job in self.it.get(MSJOBS)["items"]}
        for name, uid in self.acknowledged.items():
            check(name in jobs and jobs[name]["metadata"]["uid"] == uid, f"{name} was acknowledged and is lost")
            job = jobs[name]
            equal(finished_as(job), "Succeeded", f"{name}: {json.dumps(job['status'])}")
            check(conditions(job).get("Failed") is None, f"{name} is Failed, too")
            equal(job["status"]["replicaStatuses"]["Worker"].get("succeeded"), WORKERS, f"{name}: Workers that succeeded")
            again = sum(count - 1 for count in self.executions(name).values())
            equal(job["status"]["muster"]["restartCount"], again, f"{name}: restarts")

    def check_contention(self):
        contention = self.locks / "contention"
        check(not contention.exists(), f"a rank ran twice at a time: {contention.read_text() if contention.exists() else ''}")
        wanted = {rank: count for name in self.acknowledged for rank, count in self.executions(name).items()}
        equal(sorted(wanted.keys() - {path.stem for path in self.locks.glob("*.lock")}), [], "ranks that never held their lock")
        equal({path.name: len(path.read_text().splitlines()) for path in self.starts.iterdir()}, wanted, "how often ranks ran")

    def check_clean_up(self):
        def stopped():
            return not [pod for pod in self.it.pods() if pod["status"].get("phase") == "Running" or "deletionTimestamp" in pod["metadata"]]
        wait_until(stopped, "the schedulers to be cleaned up")
        equal(len(self.it.pods()), WORKERS * len(self.acknowledged), "pods that stay: finished workers")
        for name in self.acknowledged:
            self.it.api("DELETE", f"{MSJOBS}/{name}")
        wait_until(lambda: not self.it.pods(), "the pods to go")
        self.it.down()
        equal(self.it.traces.leftovers(), {}, "leftovers")

    def check_distribution(self, kills):
        fewest = max(1, kills // 20)
        for phase in PHASES:
            check(self.judged[phase] >= fewest, f"{self.judged[phase]} kills during {phase}, {fewest} wanted: {dict(self.judged)}")

    def summary(self):
        if not self.ready_times:
            return "no kill happened"
        phases = ", ".join(f"{phase} {self.judged[phase]}" for phase in (*PHASES, "other"))
        return (f"kills by phase, as the store shows: {phases}; {len(self.acknowledged)} jobs; "
                f"back after {sorted(self.ready_times)[len(self.ready_times) // 2] * 1000:.0f} ms")
