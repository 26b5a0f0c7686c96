"""What ChainerJobs do alike on both clusters, with Debian's Open MPI: ranks by slots, masters that are tried again, workers that come back."""
import os
import signal

from checks import check, condition, contains, equal, wait_until
from manifests import chainer_role, chainerjob

JOBS = "/apis/kubeflow.org/v1alpha1/namespaces/default/chainerjobs"
PODS = "/api/v1/namespaces/default/pods"
CORE = "/api/v1/namespaces/default"
IDLE = "while true; do sleep 0.1; done"


class Chainer:
    """The ChainerJobs of a cluster. `request` answers (status, object); `files` is a directory of pods and test; `traces` finds processes."""

    def __init__(self, request, files, traces):
        self.request, self.files, self.traces = request, files, traces

    def get(self, path):
        status, value = self.request("GET", path)
        check(status == 200, f"GET {path}: {status} {value}")
        return value

    def delete(self, path):
        equal(self.request("DELETE", path)[0], 200, f"DELETE {path}")

    # --- jobs

    def create(self, job):
        status, value = self.request("POST", JOBS, job)
        equal(status, 201, f"creating {job['metadata']['name']}: {value}")

    def job(self, name):
        return self.get(f"{JOBS}/{name}")

    def wait_for(self, name, kind, limit=60):
        """Until the job has that condition; its status."""
        wait_until(lambda: condition(self.job(name), kind), f"{name} to be {kind}", limit)
        return self.job(name)["status"]

    def edit(self, name, change):
        def stored():
            job = self.job(name)
            change(job)
            status, answer = self.request("PUT", f"{JOBS}/{name}", job)
            check(status in (200, 409), f"edit of {name}: {status} {answer}")
            return status == 200
        wait_until(stored, f"the edit of {name}")

    def events(self, name):
        """(type, reason, message)"""
        items = self.get(f"{CORE}/events")["items"]
        return [(e["type"], e["reason"], e["message"]) for e in items
                if (e["involvedObject"].get("kind"), e["involvedObject"].get("name")) == ("ChainerJob", name)]

    def wait_for_event(self, name, text):
        wait_until(lambda: contains(str(self.events(name)), text, "events") or True, f"an event of {name}")

    # --- children

    def pods(self, name):
        """name → pod, of those that are not on their way out."""
        return {pod["metadata"]["name"]: pod for pod in self.get(PODS)["items"]
                if pod["metadata"]["name"].startswith(name + "-") and not pod["metadata"].get("deletionTimestamp")}

    def masters(self, name):
        return {pod: seen for pod, seen in self.pods(name).items() if pod.startswith(name + "-master-")}

    def restarts(self, pod):
        containers = self.get(f"{PODS}/{pod}")["status"].get("containerStatuses", [{}])
        return containers[0].get("restartCount", 0)

    def running(self, name, count):
        def all_run():
            phases = {pod: seen["status"].get("phase") for pod, seen in self.pods(name).items()}
            return equal(sorted(phases.values()), ["Running"] * count, f"phases {phases}") or True
        wait_until(all_run, f"{count} pods of {name} to run")

    # --- what runs in them

    def ranks(self, name):
        """The ranks that wrote down where they are: host → how many."""
        found = {}
        for file in self.files.glob(f"{name}.rank.*"):
            host = file.read_text().strip()
            found[host] = found.get(host, 0) + 1
        return found


def where_am_i(it, name):
    """The program of a rank: it writes down its host."""
    return f"hostname > {it.files}/{name}.rank.$OMPI_COMM_WORLD_RANK"


def mpiexec(it, name, count):
    return f"mpiexec --allow-run-as-root -n {count} sh -c '{where_am_i(it, name)}'"


def third_try(it):
    """The master fails twice and succeeds at the third try; the set with two slots gets two ranks."""
    tries = it.files / "third.tries"
    command = f"echo $HOSTNAME >> {tries}; [ $(wc -l < {tries}) -ge 3 ] || exit 7; {mpiexec(it, 'third', 4)}"
    it.create(chainerjob("third", chainer_role(command, it.files),
                         small=chainer_role(IDLE, it.files, replicas=1),
                         big=chainer_role(None, it.files, replicas=1, mpiConfig={"slots": 2})))
    status = it.wait_for("third", "Complete", 150)
    equal((status.get("failed"), status.get("succeeded"), status.get("active")), (2, 1, None), "counters")
    equal(status["completionTime"], condition(it.job("third"), "Complete")["lastProbeTime"], "completionTime")
    names = tries.read_text().split()
    equal(len(set(names)), 3, f"different masters in {names}")
    equal(sorted(it.masters("third")), sorted(names), "masters that are kept")
    equal([it.masters("third")[name]["status"]["phase"] for name in names], ["Failed", "Failed", "Succeeded"], "phases")
    equal(it.ranks("third"), {"third-workerset-big-0": 2, "third-workerset-small-0": 1, names[2]: 1}, "ranks by host")
    wait_until(lambda: sorted(it.pods("third")) == sorted(names), "the workers to go")
    for resource, name in (("services", "third-mpi"), ("configmaps", "third-assets")):
        wait_until(lambda: it.request("GET", f"{CORE}/{resource}/{name}")[0] == 404, f"{name} to go")


def worker_comes_back(it):
    """A worker that exits is started again in its pod, and ranks are started in it afterwards."""
    once, go = it.files / "back.once", it.files / "back.go"
    worker = f"[ -e {once} ] || {{ touch {once}; exit 3; }}; {IDLE}"
    it.create(chainerjob("back", chainer_role(f"while [ ! -e {go} ]; do sleep 0.05; done; {mpiexec(it, 'back', 2)}", it.files),
                         ws0=chainer_role(worker, it.files)))
    uid = wait_until(lambda: it.pods("back").get("back-workerset-ws0-0"), "the worker")["metadata"]["uid"]
    wait_until(lambda: it.restarts("back-workerset-ws0-0") == 1, "the restart")
    it.running("back", 2)
    equal(it.get(f"{PODS}/back-workerset-ws0-0")["metadata"]["uid"], uid, "the pod")
    go.touch()
    status = it.wait_for("back", "Complete")
    check("failed" not in status, f"a worker's exit was counted: {status}")
    equal(it.ranks("back").get("back-workerset-ws0-0"), 1, f"ranks {it.ranks('back')}")


def lost_worker(it):
    """A worker that is deleted is made again under its name, and the master goes on."""
    go = it.files / "lost.go"
    it.create(chainerjob("lost", chainer_role(f"while [ ! -e {go} ]; do sleep 0.05; done; {mpiexec(it, 'lost', 2)}", it.files),
                         ws0=chainer_role(IDLE, it.files)))
    it.running("lost", 2)
    before = {pod: seen["metadata"]["uid"] for pod, seen in it.pods("lost").items()}
    it.delete(f"{PODS}/lost-workerset-ws0-0")
    wait_until(lambda: it.pods("lost").get("lost-workerset-ws0-0", {}).get("metadata", {}).get("uid") not in (None, before["lost-workerset-ws0-0"]),
               "another worker of that name")
    it.running("lost", 2)
    master = next(iter(it.masters("lost")))
    equal(it.masters("lost")[master]["metadata"]["uid"], before[master], "the master")
    go.touch()
    it.wait_for("lost", "Complete")
    equal(it.ranks("lost").get("lost-workerset-ws0-0"), 1, f"ranks {it.ranks('lost')}")


def suspended(it):
    """By the annotation: nothing runs, and afterwards it begins again."""
    go = it.files / "held.go"
    it.create(chainerjob("held", chainer_role(f"while [ ! -e {go} ]; do sleep 0.05; done", it.files), ws0=chainer_role(IDLE, it.files)))
    it.running("held", 2)
    it.edit("held", lambda job: job["metadata"].setdefault("annotations", {}).update({"muster.dev/suspend": "true"}))
    it.wait_for("held", "Suspended")
    wait_until(lambda: not it.pods("held"), "the pods to go")
    it.edit("held", lambda job: job["metadata"]["annotations"].pop("muster.dev/suspend"))
    it.running("held", 2)
    go.touch()
    status = it.wait_for("held", "Complete")
    check("failed" not in status, f"the suspension was counted: {status}")


def gives_up(it):
    """After backoffLimit masters the job has failed, and the workers go."""
    it.create(chainerjob("hopeless", {**chainer_role("exit 3", it.files), "backoffLimit": 1}, ws0=chainer_role(IDLE, it.files)))
    status = it.wait_for("hopeless", "Failed", 90)
    failed = condition(it.job("hopeless"), "Failed")
    equal((status.get("failed"), failed["reason"]), (2, "BackoffLimitExceeded"), "counters and reason")
    check("completionTime" not in status, f"completionTime of a job that failed: {status}")
    wait_until(lambda: len(it.pods("hopeless")) == 2 and it.pods("hopeless") == it.masters("hopeless"), "the workers to go")
    it.wait_for_event("hopeless", "BackoffLimitExceeded")


def killed_worker(it):
    """A worker is killed under running ranks: mpiexec ends, the next master succeeds with the worker that came back."""
    first, ready = it.files / "struck.first", it.files / "struck.ready"
    rank = f"if [ -e {first} ]; then {where_am_i(it, 'struck')}; else touch {ready}; sleep 1000; fi"
    command = f"mpiexec --allow-run-as-root -n 2 -N 1 sh -c '{rank}'"
    it.create(chainerjob("struck", chainer_role(command, it.files), ws0=chainer_role(IDLE, it.files)))
    wait_until(ready.exists, "the ranks to run")
    first.touch()
    os.kill(it.traces.pid_of(it.get(f"{PODS}/struck-workerset-ws0-0"), "muster-agent"), signal.SIGKILL)
    status = it.wait_for("struck", "Complete", 90)
    equal((status.get("failed"), status.get("succeeded")), (1, 1), "counters")
    equal(it.ranks("struck").get("struck-workerset-ws0-0"), 1, f"ranks {it.ranks('struck')}")


def idle_host(it):
    """A host that ran no rank does not fail the job, and is not passed over: the condition and one Warning name it."""
    it.create(chainerjob("idle", chainer_role(mpiexec(it, "idle", 1), it.files), ws0=chainer_role(None, it.files, replicas=2)))
    it.wait_for("idle", "Complete")
    message = condition(it.job("idle"), "Complete")["message"]
    contains(message, "2 of 3 hosts ran no rank: idle-workerset-ws0-0, idle-workerset-ws0-1", "message of the condition")
    it.wait_for_event("idle", "2 of 3 hosts ran no rank")
    equal(len([event for event in it.events("idle") if event[0] == "Warning"]), 1, "warnings")


def by_sshd(it):
    """Where the job asks for it, ranks are started by sshd; only the master has the private key."""
    job = chainerjob("shell", chainer_role(mpiexec(it, "shell", 3), it.files), ws0=chainer_role(None, it.files, replicas=2))
    job["metadata"]["annotations"] = {"muster.dev/remote-start": "sshd"}
    it.create(job)
    it.wait_for("shell", "Complete")
    master = next(iter(it.masters("shell")))
    equal(it.ranks("shell"), {"shell-workerset-ws0-0": 1, "shell-workerset-ws0-1": 1, master: 1}, "ranks by host")


STORIES = {
    "the master succeeds at the third try; slots are ranks": third_try,
    "a worker exits and comes back": worker_comes_back,
    "a worker that is deleted is made again": lost_worker,
    "a worker is killed under its rank": killed_worker,
    "a host without a rank is named": idle_host,
    "ranks by sshd": by_sshd,
    "suspended by its annotation, and resumed": suspended,
    "a master that always fails": gives_up,
}
