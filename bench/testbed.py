"""A cluster to measure the operator on: an API server and etcd, users with the rights they need, and the operator itself."""

import contextlib
import http.client
import signal
import socket
import subprocess

import support
from kubernetes import Client, Identity

NAMESPACE = "bench"
PODS = f"/api/v1/namespaces/{NAMESPACE}/pods"
SERVICES = f"/api/v1/namespaces/{NAMESPACE}/services"
EVENTS = f"/api/v1/namespaces/{NAMESPACE}/events"
JOBS = f"/apis/mindspore.gitee.com/v1/namespaces/{NAMESPACE}/msjobs"
DEFAULT_PORTS = (8080, 8081)  # the operator's, for metrics and for probes


def msjob(metadata, workers, scheduler):
    """The example's job with as many workers as wanted."""
    volume = {"name": "checkpoints",
              "hostPath": {"path": "/tmp/muster-example/ms-mlp-dataparallel", "type": "DirectoryOrCreate"}}
    container = {"name": "mindspore", "image": "muster/trainer:latest", "imagePullPolicy": "IfNotPresent",
                 "command": ["muster-trainer", "--checkpoint-dir", "/checkpoints"],
                 "volumeMounts": [{"name": "checkpoints", "mountPath": "/checkpoints"}],
                 "resources": {"requests": {"cpu": "100m", "memory": "32Mi"}}}
    roles = {}
    if scheduler:
        roles["Scheduler"] = {"replicas": 1, "template": {"spec": {"volumes": [volume], "containers": [container]}}}
    roles["Worker"] = {"replicas": workers, "template": {"spec": {"volumes": [volume], "containers": [container]}}}
    return {"apiVersion": "mindspore.gitee.com/v1", "kind": "MSJob", "metadata": {**metadata, "namespace": NAMESPACE},
            "spec": {"runPolicy": {"cleanPodPolicy": "Running"}, "successPolicy": "AllWorkers", "msReplicaSpecs": roles}}


def is_free(port):
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Operator:
    """`muster operator` at its default flags; a context. Only where its ports are taken does it get others."""

    def __init__(self, binaries, kubeconfig, log):
        self.argv = [str(binaries / "muster"), "operator", "--kubeconfig", str(kubeconfig)]
        ports = DEFAULT_PORTS
        if not all(is_free(port) for port in ports):
            ports = [free_port(), free_port()]
            self.argv += ["--metrics-bind-address", f"127.0.0.1:{ports[0]}",
                          "--health-probe-bind-address", f"127.0.0.1:{ports[1]}"]
        self.pages = f"127.0.0.1:{ports[0]}"
        self.health = f"127.0.0.1:{ports[1]}"
        self.log = log
        self.process = None

    def start(self, wait=True):
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(self.argv, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        if wait:
            support.wait_until(self.ready, "the operator to become ready", 30)
        return self

    def ready(self):
        if self.process.poll() is not None:
            raise RuntimeError("the operator ended:\n" + self.log.read_text()[-2000:])
        try:
            connection = http.client.HTTPConnection(self.health, timeout=5)
            connection.request("GET", "/readyz")
            return connection.getresponse().status == 200
        except (OSError, http.client.HTTPException):
            return False

    def metric(self, name):
        """The value of a metric without labels; None when there is none of that name."""
        connection = http.client.HTTPConnection(self.pages, timeout=10)
        connection.request("GET", "/metrics")
        for line in connection.getresponse().read().decode().splitlines():
            if line.startswith(name + " "):
                return float(line.split()[1])
        return None

    def cpu(self):
        return support.cpu_seconds(self.process.pid)

    def rss(self):
        return support.rss_mb(self.process.pid)

    def stop(self):
        process, self.process = self.process, None
        if process is None:
            return
        process.send_signal(signal.SIGTERM)
        try:
            code = process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            raise
        if code != 0:
            raise RuntimeError(f"the operator ended with {code}:\n" + self.log.read_text()[-2000:])

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.stop()


@contextlib.contextmanager
def cluster(directory, rights):
    """A new cluster with the CRDs of deploy/, and users by what they may do; it goes at the end."""
    script = str(support.ROOT / "tests/kubernetes/cluster")
    subprocess.run([script, "start", str(directory), "--etcd-unsafe-no-fsync"], check=True)
    try:
        prepare(directory, rights)
        yield Client(Identity(directory / "kubeconfig"))
    finally:
        subprocess.run([script, "stop", str(directory), "--purge"], check=False)


def prepare(directory, rights):
    environment = dict(line.removeprefix("export ").split("=", 1)
                       for line in (directory / "env").read_text().splitlines() if "=" in line)
    kubectl = [environment["KUBECTL"].strip("'\""), "--kubeconfig", str(directory / "kubeconfig")]
    admin = Client(Identity(directory / "kubeconfig"))
    for name in (NAMESPACE, "muster-system"):
        admin.call("POST", "/api/v1/namespaces", {"metadata": {"name": name}})
    deploy = support.ROOT / "deploy"
    for file in [*sorted(deploy.glob("crds/*_*.yaml")), *deploy.glob("role.yaml"), deploy / "rbac.yaml"]:
        subprocess.run([*kubectl, "apply", "--server-side", "-f", str(file)], check=True, stdout=subprocess.DEVNULL)
    rbac = "/apis/rbac.authorization.k8s.io/v1"
    for user, rules in rights.items():
        admin.call("POST", f"{rbac}/clusterroles", {"metadata": {"name": f"bench-{user}"}, "rules": rules})
    for user, role in [("operator", "muster-operator"), *((user, f"bench-{user}") for user in rights)]:
        admin.call("POST", f"{rbac}/clusterrolebindings", {
            "metadata": {"name": f"bench-{user}"},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role},
            "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": user}]})
    support.wait_until(lambda: job_served(admin), "the CRD to be served", 30, pause=0.1)
    # The first object of a new kind waits two seconds for the server to be sure of it.
    admin.call("POST", JOBS, msjob({"name": "first"}, 1, scheduler=False))


def job_served(admin):
    try:
        return admin.call("GET", JOBS)
    except RuntimeError:
        return False


def clear(admin):
    for path in (JOBS, PODS, SERVICES, EVENTS):
        admin.clear(path)
