"""What PaddleJobs do alike on both clusters: what ranks are told, the barrier, scaling, and how they end."""
import os
import signal

from checks import check, contains, equal, wait_until
from manifests import paddle_role, paddlejob

JOBS = "/apis/batch.paddlepaddle.org/v1/namespaces/default/paddlejobs"
PODS = "/api/v1/namespaces/default/pods"
CONFIGS = "/api/v1/namespaces/default/configmaps"
EVENTS = "/api/v1/namespaces/default/events"


class Paddle:
    """The PaddleJobs of a cluster. `request` answers (status, object); `files` is a directory of pods and test; `traces` finds processes."""

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

    def status(self, name):
        return self.job(name).get("status", {})

    def wait_for_phase(self, name, wanted):
        return wait_until(lambda: equal(self.status(name).get("phase"), wanted, "phase") or self.status(name), f"{name} to be {wanted}")

    def wait_for_workers(self, name, running):
        wait_until(lambda: equal(self.status(name).get("worker", {}).get("running"), running, "running workers") or True,
                   f"{running} workers of {name} to run")

    def scale(self, name, workers):
        def stored():
            job = self.job(name)
            job["spec"]["worker"]["replicas"] = workers
            status, answer = self.request("PUT", f"{JOBS}/{name}", job)
            check(status in (200, 409), f"edit of {name}: {status} {answer}")
            return status == 200
        wait_until(stored, f"the edit of {name}")

    def events(self, name):
        """(type, reason, message)"""
        items = self.get(EVENTS)["items"]
        return [(e["type"], e["reason"], e["message"]) for e in items
                if (e["involvedObject"].get("kind"), e["involvedObject"].get("name")) == ("PaddleJob", name)]

    def wait_for_event(self, name, text):
        wait_until(lambda: contains(str(self.events(name)), text, "events") or True, f"an event of {name}")

    # --- children

    def pods(self, name):
        """name → pod, of those that are not on their way out."""
        return {pod["metadata"]["name"]: pod for pod in self.get(PODS)["items"]
                if pod["metadata"]["name"].startswith(name + "-") and not pod["metadata"].get("deletionTimestamp")}

    def uids(self, name):
        return {pod: seen["metadata"]["uid"] for pod, seen in sorted(self.pods(name).items())}

    def addresses(self, name):
        return {pod: seen["status"].get("podIP") for pod, seen in sorted(self.pods(name).items())}

    def config(self, name):
        status, seen = self.request("GET", f"{CONFIGS}/{name}")
        return seen["data"] if status == 200 else None

    def kill(self, pod):
        os.kill(self.traces.pid_of(self.get(f"{PODS}/{pod}"), "sh"), signal.SIGKILL)

    # --- what runs in them

    def telling(self, name, then="sleep 1000"):
        """A command that writes its variables to a file, which is there when it is complete."""
        return (f"env > {self.files}/.$HOSTNAME.$$ && mv {self.files}/.$HOSTNAME.$$ {self.files}/{name}.$TRAINING_ROLE.$PADDLE_TRAINER_ID; "
                f"{then}")

    def told(self, name, rank):
        """The variables of a rank, such as TRAINER.0."""
        path = self.files / f"{name}.{rank}"
        wait_until(path.exists, f"what {rank} of {name} was told")
        return dict(line.split("=", 1) for line in path.read_text().splitlines() if "=" in line)

    def forget_told(self, name):
        for file in self.files.glob(f"{name}.*"):
            file.unlink()


def what_ranks_are_told(it):
    it.create(paddlejob("told", withGloo=1, ps=paddle_role(it.telling("told"), 1, it.files), worker=paddle_role(it.telling("told"), 2, it.files)))
    status = it.wait_for_phase("told", "Running")
    addresses = it.addresses("told")
    seen = {rank: it.told("told", rank) for rank in ("PSERVER.0", "TRAINER.0", "TRAINER.1")}
    port = seen["TRAINER.0"]["PADDLE_PORT"]
    check(36000 <= int(port) < 56000, f"port {port}")
    for rank, variables in seen.items():
        role, index = rank.split(".")
        mine = addresses[f"told-{'ps' if role == 'PSERVER' else 'worker'}-{index}"]
        expected = {
            "POD_IP": mine, "PADDLE_CURRENT_ENDPOINT": f"{mine}:{port}", "PADDLE_TRAINER_ID": index, "PADDLE_TRAINING_ROLE": role,
            "PADDLE_TRAINER_ENDPOINTS": ",".join(f"{addresses[f'told-worker-{i}']}:{port}" for i in (0, 1)),
            "PADDLE_TRAINERS": ",".join(addresses[f"told-worker-{i}"] for i in (0, 1)), "PADDLE_TRAINERS_NUM": "2",
            "PADDLE_PSERVERS_IP_PORT_LIST": f"{addresses['told-ps-0']}:{port}", "TRAINER_PORTS_NUM": "20",
            "PADDLE_WITH_GLOO": "1", "PADDLE_GLOO_RENDEZVOUS": "3", "PADDLE_GLOO_HTTP_ENDPOINT": f"{addresses['told-ps-0']}:{int(port) + 18}"}
        equal({key: variables.get(key) for key in expected}, expected, f"variables of {rank}")
    equal((status["mode"], status["worker"]["running"], status["ps"]["running"]), ("PS", 2, 1), "mode and counters")
    equal([ref["name"] for ref in status["worker"]["refs"]], ["told-worker-0", "told-worker-1"], "references")
    equal([event for event in it.events("told") if event[0] == "Warning"], [], "warnings: to wait at the barrier is nothing to warn of")
    it.delete(f"{JOBS}/told")


def servers_are_stopped(it):
    go = it.files / "done"
    server = paddle_role("trap '' TERM; while true; do sleep 0.1; done", 2, terminationGracePeriodSeconds=1)
    it.create(paddlejob("served", "Never", ps=server, worker=paddle_role(f"while [ ! -e {go} ]; do sleep 0.05; done", 2, it.files)))
    started = it.wait_for_phase("served", "Running")["startTime"]
    go.touch()
    status = it.wait_for_phase("served", "Completed")
    wait_until(lambda: equal(sorted(it.pods("served")), ["served-worker-0", "served-worker-1"], "pods") or True, "the servers to be stopped")
    equal((status["worker"]["succeeded"], status["ps"]["succeeded"]), (2, 2), "counters")
    equal(status["startTime"], started, "start")
    check(status["completionTime"], "no completionTime")
    check(it.config("served"), "the ConfigMap is gone")
    # After the end nothing is made again; a job that follows shows that there was time for it.
    it.delete(f"{PODS}/served-worker-0")
    wait_until(lambda: sorted(it.pods("served")) == ["served-worker-1"], "the deleted pod to go")
    it.create(paddlejob("after", worker=paddle_role("true")))
    it.wait_for_phase("after", "Completed")
    equal(sorted(it.pods("served")), ["served-worker-1"], "pods after the end")


def elastic(it):
    it.create(paddlejob("el", elastic=1, worker=paddle_role(it.telling("el"), 2, it.files)))
    it.wait_for_phase("el", "Running")
    first = it.uids("el")
    equal(list(first), ["el-worker-0", "el-worker-1"], "pods")
    expected = {"PADDLE_ELASTIC_JOB_ID": "default-el", "PADDLE_ELASTIC_NP": "2", "PADDLE_ELASTIC_TIMEOUT": "60", "PADDLE_TRAINERS": None}
    variables = it.told("el", "TRAINER.1")
    equal({key: variables.get(key) for key in expected}, expected, "variables")
    it.scale("el", 4)
    it.wait_for_workers("el", 4)
    four = it.uids("el")
    equal({name: four[name] for name in first}, first, "the first two")
    equal(it.told("el", "TRAINER.3")["PADDLE_ELASTIC_NP"], "4", "PADDLE_ELASTIC_NP of a new one")
    it.scale("el", 3)
    wait_until(lambda: list(it.uids("el")) == ["el-worker-0", "el-worker-1", "el-worker-2"], "the last to go")
    it.wait_for_workers("el", 3)
    equal(it.uids("el"), {name: uid for name, uid in four.items() if name != "el-worker-3"}, "the first three")
    wait_until(lambda: (it.config("el") or {}).get("PADDLE_TRAINERS_NUM") == "3", "the ConfigMap to say three")
    it.delete(f"{JOBS}/el")


def not_elastic(it):
    """All ranks begin again, and all of them know of the new one."""
    it.create(paddlejob("whole", worker=paddle_role(it.telling("whole"), 2, it.files)))
    started = it.wait_for_phase("whole", "Running")["startTime"]
    before, port = it.uids("whole"), it.told("whole", "TRAINER.0")["PADDLE_PORT"]
    it.told("whole", "TRAINER.1")
    it.forget_told("whole")
    it.scale("whole", 3)
    it.wait_for_workers("whole", 3)
    after = it.uids("whole")
    equal(list(after), ["whole-worker-0", "whole-worker-1", "whole-worker-2"], "pods")
    check(not set(after.values()) & set(before.values()), "a pod of the run before is left")
    for index in range(3):
        equal(it.told("whole", f"TRAINER.{index}")["PADDLE_TRAINERS"].split(","), list(it.addresses("whole").values()), f"what {index} knows")
    equal(it.config("whole")["PADDLE_PORT"], port, "the port")
    equal(it.wait_for_phase("whole", "Running")["startTime"], started, "startTime")
    it.wait_for_event("whole", "begins again with worker=3")


def config_comes_back(it):
    """After `not_elastic`: its job still runs."""
    before, uids = it.config("whole"), it.uids("whole")
    it.delete(f"{CONFIGS}/whole")
    wait_until(lambda: equal(it.config("whole"), before, "what it says") or True, "the ConfigMap to come back")
    equal(it.uids("whole"), uids, "pods")
    # A worker that goes takes it along: it comes back with the new address.
    it.delete(f"{PODS}/whole-worker-1")
    wait_until(lambda: it.uids("whole").get("whole-worker-1", uids["whole-worker-1"]) != uids["whole-worker-1"], "another worker")

    def true_again():
        addresses = list(it.addresses("whole").values())
        check(len(addresses) == 3 and all(addresses), f"addresses {addresses}")
        return equal((it.config("whole") or {}).get("PADDLE_TRAINERS"), ",".join(addresses), "hosts") or True
    wait_until(true_again, "the ConfigMap to be true")
    it.delete(f"{JOBS}/whole")
    wait_until(lambda: it.config("whole") is None, "the ConfigMap to go with its job")


def killed_worker(it):
    it.create(paddlejob("lost", worker=paddle_role("while true; do sleep 0.1; done", 2)))
    it.wait_for_phase("lost", "Running")
    it.kill("lost-worker-1")
    status = it.wait_for_phase("lost", "Failed")
    equal((status["worker"].get("failed"), status["worker"].get("running")), (1, 1), "counters")
    equal(sorted(it.pods("lost")), ["lost-worker-0", "lost-worker-1"], "pods: nothing is cleaned up after a failure")
    it.wait_for_event("lost", "pod lost-worker-1 exited with code 137")


def killed_worker_by_name(it):
    """With Service it is restarted where it is, and keeps its name."""
    go = it.files / "again"
    command = f"while [ ! -e {go} ]; do sleep 0.05; done"
    it.create(paddlejob("again", "Never", intranet="Service", worker=paddle_role(command, 2, it.files)))
    it.wait_for_phase("again", "Running")
    before = it.uids("again")
    it.kill("again-worker-0")
    wait_until(lambda: it.get(f"{PODS}/again-worker-0")["status"]["containerStatuses"][0]["restartCount"] == 1, "the restart")
    equal(it.uids("again"), before, "pods")
    equal(it.config("again")["PADDLE_TRAINER_ENDPOINTS"], "again-worker-0:36000,again-worker-1:36000", "endpoints")
    go.touch()
    it.wait_for_phase("again", "Completed")


def old_finalizer(it):
    job = paddlejob("old", worker=paddle_role("sleep 1000"))
    job["metadata"]["finalizers"] = ["finalizers.paddlepaddle.org"]
    it.create(job)
    it.wait_for_phase("old", "Running")
    it.delete(f"{JOBS}/old")
    wait_until(lambda: it.request("GET", f"{JOBS}/old")[0] == 404, "the job to go")


STORIES = {
    "what ranks are told": what_ranks_are_told,
    "servers are stopped when all workers succeeded": servers_are_stopped,
    "elastic: 2, 4, 3 workers, and peers stay": elastic,
    "not elastic: all begin again with a new ConfigMap": not_elastic,
    "a ConfigMap deleted by hand comes back": config_comes_back,
    "a killed worker fails a collective job": killed_worker,
    "a killed worker with a name is restarted in place": killed_worker_by_name,
    "the old operator's finalizer holds nobody": old_finalizer,
}
