"""What T9k's MPIJobs do alike on both clusters, with Debian's Open MPI: run, pause, resume, wait to be debugged; and a Muster that is killed
in each of these states."""
import time

from checks import check, conditions, contains, equal, stays, wait_until
from manifests import mpijob

JOBS = "/apis/batch.tensorstack.dev/v1beta1/namespaces/default/mpijobs"
CORE = "/api/v1/namespaces/default"
PODS = f"{CORE}/pods"
GROUPS = "/apis/scheduler.tensorstack.dev/v1beta1/namespaces/default/podgroups"
GRACE = 5  # seconds, of the pods that the manifests make
CLEAN = {"cleanUpWorkers": True}


class MpiJobs:
    """The MPIJobs of a cluster. `request` answers (status, object); `files` is a directory of pods and test; `crash` kills Muster and starts
    it again; `run_in(job, role, *command)` is what a command in a running pod says."""

    def __init__(self, request, files, crash, run_in):
        self.request, self.files, self.crash, self.run_in = request, files, crash, run_in

    def get(self, path):
        status, value = self.request("GET", path)
        check(status == 200, f"GET {path}: {status} {value}")
        return value

    # --- jobs

    def create(self, job):
        status, value = self.request("POST", JOBS, job)
        equal(status, 201, f"creating {job['metadata']['name']}: {value}")

    def job(self, name):
        return self.get(f"{JOBS}/{name}")

    def delete(self, name):
        equal(self.request("DELETE", f"{JOBS}/{name}")[0], 200, f"deleting {name}")
        wait_until(lambda: not self.pods(name), f"the pods of {name} to go")

    def phase(self, name):
        return self.job(name).get("status", {}).get("phase")

    def wait_for(self, name, wanted, limit=60):
        wait_until(lambda: equal(self.phase(name), wanted, "phase") or True, f"{name} to be {wanted}", limit)
        return self.job(name)["status"]

    def edit(self, name, change):
        """How the server answers to it."""
        while True:
            job = self.job(name)
            change(job["spec"])
            status, answer = self.request("PUT", f"{JOBS}/{name}", job)
            if status != 409:
                return status, answer

    def set_mode(self, name, mode, enabled):
        equal(self.edit(name, lambda spec: spec["runMode"][mode].update(enabled=enabled))[0], 200, f"{mode} of {name}: {enabled}")

    # --- children

    def pods(self, name):
        """name → uid, those on their way out too."""
        return {pod["metadata"]["name"]: pod["metadata"]["uid"] for pod in self.get(PODS)["items"]
                if pod["metadata"]["name"].startswith(name + "-")}

    def has(self, path):
        return self.request("GET", path)[0] == 200

    def crash_changes_nothing(self, name):
        """The same pods in the same phase, for a while, under the next Muster."""
        before = self.pods(name), self.phase(name)
        self.crash()
        stays(lambda: (self.pods(name), self.phase(name)), f"pods and phase of {name} after a crash", seconds=2)
        equal((self.pods(name), self.phase(name)), before, f"pods and phase of {name}")

    # --- what runs in them

    def program(self, name):
        """Every rank says that it began, and ends when it may."""
        return f"hostname >> {self.files}/{name}.began; while [ ! -e {self.files}/{name}.go ]; do sleep 0.05; done"

    def let_go(self, name):
        (self.files / f"{name}.go").touch()

    def began(self, name, count):
        path = self.files / f"{name}.began"
        wait_until(lambda: path.exists() and equal(len(path.read_text().split()), count, "ranks") or path.exists(), f"{count} ranks of {name}")
        return sorted(path.read_text().split())


def pause_and_resume(it):
    """Paused while it runs, resumed, finished; Muster is killed in each state."""
    mode = {"pause": {"enabled": False, "resumeSpecs": [{"type": "worker", "skipInitContainer": True}]}}
    it.create(mpijob("halt", it.program("halt"), it.files, runMode=mode, runPolicy=CLEAN, scheduler={"t9kScheduler": {"queue": "default"}}))
    it.wait_for("halt", "Running")
    it.began("halt", 2)
    equal(sorted(it.pods("halt")), ["halt-launcher", "halt-worker-0", "halt-worker-1"], "pods")
    check(it.has(f"{GROUPS}/halt"), "no PodGroup")
    it.crash_changes_nothing("halt")

    it.set_mode("halt", "pause", True)
    asked = time.monotonic()
    it.wait_for("halt", "Paused")
    wait_until(lambda: not it.pods("halt"), "the pods to go")
    took = time.monotonic() - asked
    check(took < GRACE + 3, f"all pods were gone after {took:.1f} s, with a grace period of {GRACE} s")
    equal(conditions(it.job("halt"))["Paused"]["status"], "True", "Paused")
    for kept in (f"{CORE}/configmaps/halt-hostfile", f"{CORE}/services/halt-worker"):
        check(it.has(kept), f"{kept} went with the pods")
    wait_until(lambda: not it.has(f"{GROUPS}/halt"), "the PodGroup to go")
    it.crash_changes_nothing("halt")

    it.set_mode("halt", "pause", False)
    it.crash()
    it.wait_for("halt", "Running")
    hosts = it.began("halt", 4)
    equal(hosts, ["halt-worker-0", "halt-worker-0", "halt-worker-1", "halt-worker-1"], "where ranks began, in both runs")
    equal(conditions(it.job("halt"))["Paused"]["status"], "False", "Paused")
    it.let_go("halt")
    it.wait_for("halt", "Succeeded")
    wait_until(lambda: equal(list(it.pods("halt")), ["halt-launcher"], "pods") or True, "the workers to go")
    it.crash_changes_nothing("halt")
    equal(it.job("halt")["status"]["aggregate"]["deleted"], 2, "deleted workers")


def pause_first(it):
    """Nothing is made of a job that is paused from the start; resumed, it runs."""
    it.create(mpijob("later", it.program("later"), it.files, runMode={"pause": {"enabled": True}}, runPolicy=CLEAN))
    it.wait_for("later", "Paused")
    it.crash_changes_nothing("later")
    equal(it.pods("later"), {}, "pods")
    check(not it.has(f"{CORE}/configmaps/later-hostfile"), "a host file was made")
    it.let_go("later")
    it.set_mode("later", "pause", False)
    it.wait_for("later", "Succeeded")
    it.began("later", 2)


def debug_and_finish(it):
    """Pods wait; a person starts ranks by hand; then the job runs by itself, in new pods."""
    it.create(mpijob("look", it.program("look"), it.files, runMode={"debug": {"enabled": True}}, runPolicy=CLEAN))
    it.wait_for("look", "Running")
    by_hand = ("/muster/bin/muster-agent", "launch", "--hostfile", "/t9k/hostfile", "--", "mpirun", "--allow-run-as-root", "--hostfile",
               "/t9k/hostfile", "hostname")
    said = it.run_in("look", "launcher", *by_hand)
    equal(sorted(line for line in said.split() if line.startswith("look-")), ["look-worker-0", "look-worker-1"], f"ranks by hand in {said!r}")
    it.crash_changes_nothing("look")
    contains(it.run_in("look", "worker", "hostname"), "look-worker-0", "a command in a worker")
    before = it.pods("look")
    it.set_mode("look", "debug", False)
    it.crash()
    it.began("look", 2)
    it.wait_for("look", "Running")
    check(not set(before.values()) & set(it.pods("look").values()), "pods of before are still there")
    it.let_go("look")
    it.wait_for("look", "Succeeded")


def refused_edits(it):
    """resumeSpecs stay as they are, and debugging is not turned on."""
    mode = {"pause": {"enabled": True, "resumeSpecs": [{"type": "worker", "command": ["a"]}]}}
    it.create(mpijob("fixed", "true", runMode=mode))
    it.wait_for("fixed", "Paused")
    for change in (lambda spec: spec["runMode"]["pause"]["resumeSpecs"][0].update(command=["b"]),
                   lambda spec: spec["runMode"]["pause"].pop("resumeSpecs"),
                   lambda spec: spec["runMode"]["pause"]["resumeSpecs"].append({"type": "launcher"})):
        status, answer = it.edit("fixed", change)
        equal(status, 422, f"status of the edit: {answer}")
        contains(answer["message"], "resumeSpecs", "what the server says")
        contains(answer["message"], "cannot be changed once the job is there", "what the server says")
    status, answer = it.edit("fixed", lambda spec: spec["runMode"].update(debug={"enabled": True}))
    equal(status, 422, f"status of the edit: {answer}")
    contains(answer["message"], "cannot be turned on for a job that is there", "what the server says")
    it.delete("fixed")


def fails(it):
    """A rank exits with 3: the job has failed, ended, and says where."""
    it.create(mpijob("bad-end", "exit 3"))
    status = it.wait_for("bad-end", "Failed")
    held = {kind: (one["status"], one["reason"]) for kind, one in conditions(it.job("bad-end")).items()}
    equal((held["Completed"], held["Failed"]), (("True", "Failed"),) * 2, "conditions")
    equal(conditions(it.job("bad-end"))["ReplicaFailure"]["message"], "Pod[bad-end-launcher] exited with error code 3", "ReplicaFailure")
    contains(conditions(it.job("bad-end"))["Failed"]["message"], "The job exited with an error code.", "message")
    equal(status["aggregate"]["running"], 2, "workers stay without cleanUpWorkers")
    it.delete("bad-end")


STORIES = {
    "pause, resume and finish": pause_and_resume,
    "paused before it starts": pause_first,
    "debug, exec, and then run": debug_and_finish,
    "edits that are refused": refused_edits,
    "a rank that fails": fails,
}
