"""What the kube-*.suite programs share: a real control plane, operators, nodes and a model kubelet.

What a suite starts is registered in its exit stack and ended there.
"""
import contextlib
import datetime
import functools
import http.client
import json
import os
import pathlib
import re
import shutil
import signal
import ssl
import subprocess
import tempfile
import threading
import time
import urllib.parse

from checks import BIN, ROOT, Failure, Final, Suite, check, condition, uninterrupted, wait_until
from machine import Traces

JOBS = "/apis/mindspore.gitee.com/v1"
OPERATOR_LEASE = "/apis/coordination.k8s.io/v1/namespaces/muster-system/leases/muster-operator"
OURS = "training.kubeflow.org/operator-name=msjob-controller"


# ---------------------------------------------------------------------------------------------------------------------
# Suites


class KubeSuite(Suite):
    """A suite with a directory of its own and a stack of what has to be ended, also when it fails or is interrupted.

    MUSTER_KEEP keeps the directory of one that failed.
    """

    def __init__(self):
        super().__init__()
        self.stack = contextlib.ExitStack()
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="mk.", dir="/tmp"))
        self.stack.callback(self.remove_directory)

    def close(self):
        with uninterrupted(), self.stack:
            if self.failed:
                self.show_logs()

    def show_logs(self):
        for log in sorted(self.directory.glob("*.log")):
            print(f"--- the end of {log.name}")
            print("\n".join(log.read_text(errors="replace").splitlines()[-15:]))

    def remove_directory(self):
        if self.failed and os.environ.get("MUSTER_KEEP"):
            print(f"kept {self.directory}")
        else:
            shutil.rmtree(self.directory, ignore_errors=True)


# ---------------------------------------------------------------------------------------------------------------------
# Processes


class Process:
    """A program of ours in the background with its output in a log; ended with its suite."""

    def __init__(self, suite, name, argv, env=None):
        self.name = name
        self.log_path = suite.directory / f"{name}.log"
        with self.log_path.open("ab") as log:
            self.child = subprocess.Popen([str(word) for word in argv], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                          cwd=ROOT, env={**os.environ, **(env or {})})
        suite.stack.callback(self.end)

    def signal(self, number):
        self.child.send_signal(number)

    def running(self):
        return self.child.poll() is None

    def kill(self):
        self.child.kill()
        self.child.wait()

    def wait(self, seconds):
        """Its exit code; Failure when it does not end in time."""
        try:
            return self.child.wait(seconds)
        except subprocess.TimeoutExpired:
            raise Failure(f"{self.name} did not end within {seconds} s:\n{self.log()[-2000:]}") from None

    def terminate(self, seconds=20):
        self.signal(signal.SIGTERM)
        return self.wait(seconds)

    def end(self):
        """Ends it for sure, kindly first."""
        if not self.running():
            return
        with contextlib.suppress(ProcessLookupError):
            self.signal(signal.SIGCONT)
            self.signal(signal.SIGTERM)
        try:
            self.child.wait(20)
        except subprocess.TimeoutExpired:
            self.kill()

    def log(self):
        return self.log_path.read_text(errors="replace")


# ---------------------------------------------------------------------------------------------------------------------
# The control plane


class Kube:
    """A real API server with its companions in a directory of its own, seen with the admin's eyes."""

    def __init__(self, suite, *options):
        self.suite = suite
        self.directory = suite.directory / "cluster"
        self.home = suite.directory / "home"  # of its node
        self.local = threading.local()
        tool = ROOT / "tests/kubernetes/cluster"
        suite.stack.callback(lambda: subprocess.run([tool, "stop", self.directory, "--purge"], check=False,
                                                    stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
        # Processes are killed here, the machine loses no power: what etcd wrote is there without waiting for a disk.
        done = subprocess.run([tool, "start", self.directory, "--etcd-unsafe-no-fsync", *options], text=True, capture_output=True, check=False)
        check(done.returncode == 0, lambda: f"the cluster did not start: {done.stdout}{done.stderr}")
        self.read_env()
        url = urllib.parse.urlsplit(self.env["KUBE_API"])
        self.host, self.port = url.hostname, url.port
        self.trust(self.env["KUBE_CA"])

    def read_env(self):
        self.env = dict(re.findall(r"^export (\w+)=(.*)$", (self.directory / "env").read_text(), re.M))

    def restart(self, program):
        done = subprocess.run([ROOT / "tests/kubernetes/cluster", "restart", self.directory, program, "--kill"], text=True, capture_output=True, check=False)
        check(done.returncode == 0, lambda: f"{program} did not start again: {done.stdout}{done.stderr}")
        self.read_env()

    def trust(self, ca):
        """What the server's certificate is signed by from now on."""
        self.tls = ssl.create_default_context(cafile=ca)
        self.local = threading.local()

    # -- requests

    def request(self, method, path, body=None, kind="application/json"):
        """One request as the admin: its status code and the object it was answered with."""
        headers = {"Authorization": "Bearer " + self.env["KUBE_TOKEN"], "Accept": "application/json"}
        payload = None
        if body is not None:
            payload = json.dumps(body)
            headers["Content-Type"] = kind
        for attempt in (1, 2):
            connection = getattr(self.local, "connection", None)
            if connection is None:
                connection = self.local.connection = http.client.HTTPSConnection(self.host, self.port, context=self.tls, timeout=30)
            try:
                connection.request(method, path, payload, headers)
                answer = connection.getresponse()
                return answer.status, json.loads(answer.read() or b"{}")
            except (http.client.HTTPException, ConnectionError):
                connection.close()
                self.local.connection = None
                if attempt == 2 or method == "POST":
                    raise
        raise AssertionError

    def get(self, path):
        code, answer = self.request("GET", path)
        check(code == 200, lambda: f"GET {path}: {code} {answer.get('message')}")
        return answer

    def exists(self, path):
        return self.request("GET", path)[0] == 200

    def items(self, path):
        return self.get(path)["items"]

    def create(self, path, body):
        code, answer = self.request("POST", path, body)
        check(code == 201, lambda: f"POST {path}: {code} {answer.get('message')}")
        return answer

    def delete(self, path, **options):
        code, answer = self.request("DELETE", path, options or None)
        check(code in (200, 202, 404), lambda: f"DELETE {path}: {code} {answer.get('message')}")

    def kubectl(self, *words, good=True, seconds=90, text=None):
        """kubectl as the admin; its completed process."""
        done = subprocess.run([self.env["KUBECTL"], *[str(word) for word in words]], env={**os.environ, **self.env}, text=True,
                              input=text, stdin=subprocess.DEVNULL if text is None else None, capture_output=True,
                              timeout=seconds, cwd=ROOT, check=False)
        check(done.returncode == 0 or not good, lambda: f"kubectl {words[0]}: {done.stdout}{done.stderr}")
        return done

    # -- what a suite asks for

    @functools.lru_cache(maxsize=None)
    def user(self, name):
        """The kubeconfig of a user without any right."""
        done = subprocess.run([ROOT / "tests/kubernetes/cluster", "user", self.directory, name], text=True, capture_output=True, check=True)
        return done.stdout.strip()

    def install(self, operators=("operator",), more=()):
        """Everything of deploy/, as an administrator does it, its rights for some users, and more files of CRDs. The operator itself runs
        beside the cluster here, so the Deployment gets no pods."""
        applied = self.kubectl("apply", "--server-side", "-f", "deploy/install.yaml")
        self.kubectl("-n", "muster-system", "scale", "deployment/muster-operator", "--replicas=0")
        users = [f"--user={name}" for name in operators]
        self.kubectl("create", "clusterrolebinding", "test-operators", "--clusterrole=muster-operator", *users)
        self.kubectl("create", "rolebinding", "test-leaders", "--role=muster-operator-leader", "-n", "muster-system", *users)
        for path in more:
            self.kubectl("create", "-f", path)
        self.kubectl("wait", "--for=condition=Established", "crd", "--all", "--timeout=30s")
        if "KUBE_CONTROLLER_MANAGER_PID" in self.env:  # it looks for new kinds every half minute: a new one has them in 2 s, and collects their children
            self.restart("kube-controller-manager")
        return applied.stdout

    def operator(self, user="operator", *flags, name=None, env=None):
        """An operator with that user's rights; returns at once."""
        return Process(self.suite, name or user, [BIN / "muster", "operator", "--kubeconfig", self.user(user),
                                                  "--metrics-bind-address", "127.0.0.1:0",
                                                  "--health-probe-bind-address", "0", *flags], env)

    def node(self, name, *flags, taint="", own_range=True):
        """A node whose pods are processes here, with the rights of a kubelet; returns when it is Ready. It takes every pod,
        unless a taint is given (None: the node's default), and uses all of the cluster's pod addresses, or asks for its own."""
        self.kubectl("create", "clusterrolebinding", "test-node", "--clusterrole=system:node", "--user=node", good=False)
        # Both are there when the node was before. Whom the API server is at a node's door; every cluster grants it that.
        self.kubectl("create", "clusterrolebinding", "test-apiserver", "--clusterrole=system:kubelet-api-admin",
                     "--user=kube-apiserver-kubelet-client", good=False)
        self.suite.stack.callback(Traces(self.home).clear)
        node = Process(self.suite, name, [BIN / "muster", "node", "--kubeconfig", self.user("node"), "--name", name, "--home", self.home,
                                          "--client-ca", self.directory / "pki/ca.crt", "--service-cidr", self.env["KUBE_SERVICE_CIDR"],
                                          *(["--pod-cidr", self.env["KUBE_POD_CIDR"]] if own_range else []),
                                          *(["--taint", taint] if taint is not None else []), *flags],
                       {"PATH": f"{BIN}:{os.environ['PATH']}"})

        def ready():
            if not node.running():
                raise Final(f"the node ended:\n{node.log()}")
            code, seen = self.request("GET", f"/api/v1/nodes/{name}")
            return code == 200 and any(c["type"] == "Ready" and c["status"] == "True" for c in seen["status"].get("conditions", []))

        wait_until(ready, "ready node")
        return node

    # -- what it saw

    def job(self, name, ns="default"):
        return self.get(f"{JOBS}/namespaces/{ns}/msjobs/{name}")

    def create_job(self, body, ns="default"):
        return self.create(f"{JOBS}/namespaces/{ns}/msjobs", body)

    def finished(self, name, seconds=60, ns="default"):
        def look():
            job = self.job(name, ns)
            return job if condition(job, "Finished") else None
        return wait_until(look, f"end of job {name}", seconds)

    def pods(self, job=None, ns="default"):
        selector = OURS + (f",training.kubeflow.org/job-name={job}" if job else "")
        return self.items(f"/api/v1/namespaces/{ns}/pods?labelSelector={urllib.parse.quote(selector)}")

    def pod(self, name, ns="default"):
        return self.get(f"/api/v1/namespaces/{ns}/pods/{name}")

    def events(self, job, ns="default"):
        """(type, reason, message) of a job's events."""
        selector = urllib.parse.quote(f"involvedObject.name={job},involvedObject.kind=MSJob")
        return [(e["type"], e["reason"], e["message"]) for e in self.items(f"/api/v1/namespaces/{ns}/events?fieldSelector={selector}")]

    def audit(self):
        """What was written, one record an answered request."""
        records = []
        for line in pathlib.Path(self.env["KUBE_AUDIT_LOG"]).read_text().splitlines():
            with contextlib.suppress(ValueError):  # the last line may be half there
                records.append(json.loads(line))
        return records


def accepted(record):
    """Whether a write may have been done: a client that dies gets a 5xx of which the audit log cannot tell."""
    return not 400 <= record.get("responseStatus", {}).get("code", 0) < 500


def audit_time(record):
    text = record["requestReceivedTimestamp"].replace("Z", "+00:00")
    return datetime.datetime.fromisoformat(text).timestamp()


class PodWatch:
    """Every pod that there ever was in a namespace, from a watch that starts before the first: name → uids. One thread."""

    def __init__(self, kube, ns):
        self.ns, self.uids = ns, {}
        version = kube.get(f"/api/v1/namespaces/{ns}/pods")["metadata"]["resourceVersion"]
        self.connection = http.client.HTTPSConnection(kube.host, kube.port, context=kube.tls)
        self.connection.request("GET", f"/api/v1/namespaces/{ns}/pods?watch=1&resourceVersion={version}&timeoutSeconds=3600",
                                headers={"Authorization": "Bearer " + kube.env["KUBE_TOKEN"]})
        self.answer = self.connection.getresponse()
        self.thread = threading.Thread(target=self.work)
        self.thread.start()
        kube.suite.stack.callback(self.stop)

    def work(self):
        with contextlib.suppress(OSError, ValueError, http.client.HTTPException, AttributeError):
            for line in self.answer:
                event = json.loads(line)
                metadata = event["object"]["metadata"]
                if event["type"] == "ADDED":
                    self.uids.setdefault(metadata["name"], []).append(metadata["uid"])

    def stop(self):
        with contextlib.suppress(OSError, AttributeError):
            self.answer.fp.raw._sock.shutdown(2)  # wakes the reader; there is no other way to it
        self.thread.join()


# ---------------------------------------------------------------------------------------------------------------------
# A model kubelet


class ModelKubelet:
    """Plays scheduler and kubelet for the operator's pods, without processes: binds each, lets it run for a moment, ends it
    with the exit code that `script(pod name, how often that name ran before, names of those that run beside it)` gives, and
    removes it when it is deleted.

    One thread; every look lists all pods, so nothing depends on its having seen an event. None from the script: runs on.
    """

    NODE = "model"

    def __init__(self, kube, script, runs=0.15):
        self.kube, self.script, self.runs = kube, script, runs
        self.uids = {}   # path of a pod → uids in the order they ran
        self.since = {}  # uid → when it ran
        self.errors = []  # what went wrong in the model itself
        self.stopping = threading.Event()
        if not kube.exists(f"/api/v1/nodes/{self.NODE}"):
            kube.create("/api/v1/nodes", {"metadata": {"name": self.NODE}, "spec": {}})
        self.thread = threading.Thread(target=self.work)
        self.thread.start()
        kube.suite.stack.callback(self.stop)

    def stop(self):
        self.stopping.set()
        self.thread.join()

    def work(self):
        while not self.stopping.wait(0.03):
            try:
                pods = self.kube.items("/api/v1/pods?labelSelector=" + urllib.parse.quote(OURS))
                running = {(pod["metadata"]["namespace"], pod["metadata"]["name"]) for pod in pods if pod["status"].get("phase") == "Running"}
                for pod in pods:
                    self.look_after(pod, {name for ns, name in running if ns == pod["metadata"]["namespace"]})
            except (Failure, OSError) as failure:
                self.errors.append(str(failure))

    def look_after(self, pod, running):
        path = f"/api/v1/namespaces/{pod['metadata']['namespace']}/pods/{pod['metadata']['name']}"
        uid, name = pod["metadata"]["uid"], pod["metadata"]["name"]
        phase = pod["status"].get("phase")
        if pod["metadata"].get("deletionTimestamp"):
            self.send("DELETE", path, {"gracePeriodSeconds": 0, "preconditions": {"uid": uid}})
        elif not pod["spec"].get("nodeName"):
            self.send("POST", path + "/binding", {"metadata": {"name": name, "uid": uid}, "target": {"kind": "Node", "name": self.NODE}})
        elif phase == "Pending":
            self.uids.setdefault(path, []).append(uid)
            self.since[uid] = time.monotonic()
            self.write(path, uid, "Running", {"running": {}})
        elif phase == "Running" and time.monotonic() - self.since[uid] > self.runs:
            code = self.script(name, self.uids[path].index(uid), running)
            if code is not None:
                self.write(path, uid, "Failed" if code else "Succeeded", {"terminated": {"exitCode": code}})

    def write(self, path, uid, phase, container_state):
        status = {"phase": phase, "podIP": "10.244.0.9", "containerStatuses": [
            {"name": "mindspore", "image": "", "imageID": "", "ready": phase == "Running", "restartCount": 0, "state": container_state}]}
        self.send("PATCH", path + "/status", {"metadata": {"uid": uid}, "status": status}, "application/strategic-merge-patch+json")

    def send(self, method, path, body, kind="application/json"):
        """A write about a pod that may be gone or another one meanwhile."""
        code, answer = self.kube.request(method, path, body, kind)
        if code not in (200, 201, 404, 409):
            self.errors.append(f"{method} {path}: {code} {answer.get('message')}")
