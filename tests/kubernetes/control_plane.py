"""The programs of a test cluster, and the directory that describes them."""

import http.client
import json
import os
import pathlib
import select
import shlex
import shutil
import signal
import ssl
import subprocess
import time
import urllib.parse

import identities
from host import LOOPBACK, Failure, add_blackhole, refuse_routed, remove_blackhole, start_time

PROGRAMS = ["etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler"]  # in order of start
OURS = ["pki", "etcd", "logs", "flexvolume", "kubectl-cache", "kubeconfig*", "tokens.csv", "audit.log",
        "audit-policy.json", "scheduler.json", "node", "env*", "state.json*"]  # all that a cluster makes in its directory
STOP_SECONDS = 10  # for a program to end after SIGTERM, and after SIGKILL
POLL_SECONDS = 0.05


class Cluster:
    """One cluster as its directory describes it.

    What was started is written to DIR/state.json at once, so that `stop` finds it whatever became of the `start`.
    """

    def __init__(self, directory):
        self.directory = pathlib.Path(directory).resolve()
        self.pki = self.directory / "pki"
        self.state_file = self.directory / "state.json"
        self.state = None
        self.interrupted_by = None  # set by a signal handler; heeded where nothing is half done

    def create(self, settings):
        """Claims the directory, which must be new or empty."""
        self.directory.mkdir(parents=True, exist_ok=True)
        if any(self.directory.iterdir()):
            raise Failure(f"{self.directory} is not empty; end an older cluster there with 'stop --purge'")
        (self.directory / "logs").mkdir()
        self.state = {"settings": settings, "programs": {}, "routes": []}
        self.save()

    def load(self):
        """Reads what is there; False when that is no cluster."""
        try:
            self.state = json.loads(self.state_file.read_text())
        except (FileNotFoundError, NotADirectoryError):
            self.state = None
        return self.state is not None

    def save(self):
        self.replace("state.json", json.dumps(self.state, indent=1) + "\n")

    def replace(self, name, text):
        fresh = self.directory / f"{name}.new"
        fresh.write_text(text)
        fresh.rename(self.directory / name)

    def path(self, *parts):
        return str(self.directory.joinpath(*parts))

    def log(self, name):
        return self.directory / "logs" / f"{name}.log"

    # ---- starting

    def add_routes(self, cidrs, metric):
        for cidr in cidrs:
            refuse_routed(cidr)
            self.state["routes"].append([str(cidr), metric])
            self.save()
            try:
                add_blackhole(str(cidr), metric)
            except Failure:
                self.state["routes"].pop()
                self.save()
                raise

    def spawn(self, name, argv, ports, ready, environment=None):
        with open(self.log(name), "ab") as log:
            process = subprocess.Popen(argv, cwd=self.directory, env={**child_environment(), **(environment or {})},
                                       stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
        self.state["programs"][name] = {"pid": process.pid, "started": start_time(process.pid),
                                        "argv": argv, "ports": ports, "ready": ready}
        self.save()

    def alive(self, name):
        program = self.state["programs"][name]
        return program["started"] is not None and start_time(program["pid"]) == program["started"]

    def wait_ready(self, name, deadline):
        self.wait_for(name, self.state["programs"][name]["ready"], deadline)

    def wait_for(self, name, url, deadline):
        """Returns when the URL answers; fails when the program that should make it answer has ended."""
        self.wait(name, lambda: self.fetch(url)[0] == 200, url, deadline)

    def wait(self, name, holds, what, deadline):
        """Returns when it holds; fails when the program that should bring it about has ended."""
        while not holds():
            self.heed_signals()
            if not self.alive(name):
                raise Failure(f"{name} ended while starting; the end of its log:\n{last_lines(self.log(name))}")
            if time.monotonic() > deadline:
                raise Failure(f"{name} is not ready in time ({what}); the end of its log:\n"
                              f"{last_lines(self.log(name))}")
            time.sleep(POLL_SECONDS)

    def heed_signals(self):
        if self.interrupted_by is not None:
            raise Failure(f"interrupted by {self.interrupted_by}")

    def fetch(self, url):
        """A GET as the admin, with the server's certificate verified: its status, 0 when none came, and what was answered."""
        url = urllib.parse.urlsplit(url)
        headers = {}
        if url.scheme == "https":
            context = ssl.create_default_context(cafile=self.pki / "ca.crt")
            connection = http.client.HTTPSConnection(url.hostname, url.port, timeout=5, context=context)
            headers["Authorization"] = "Bearer " + self.state["settings"]["admin_token"]
        else:
            connection = http.client.HTTPConnection(url.hostname, url.port, timeout=5)
        try:
            connection.request("GET", url.path, headers=headers)
            answer = connection.getresponse()
            return answer.status, answer.read()
        except (OSError, http.client.HTTPException):
            return 0, b""
        finally:
            connection.close()

    # ---- ending

    def stop(self):
        """Ends the programs and removes the routes."""
        self.end(list(reversed(self.state["programs"])))
        self.state["programs"] = {}
        self.save()
        for cidr, metric in self.state["routes"]:
            remove_blackhole(cidr, metric)
        self.state["routes"] = []
        self.save()

    def end(self, names, signals=(signal.SIGTERM, signal.SIGKILL)):
        """Ends programs one after the other, each only if it is still the process that we started."""
        for name in names:
            pid = self.state["programs"][name]["pid"]
            try:
                handle = os.pidfd_open(pid)
            except ProcessLookupError:
                continue
            try:
                if self.alive(name) and not any(ended_by(number, handle) for number in signals):
                    raise Failure(f"{name} (pid {pid}) does not end, even killed")
            finally:
                os.close(handle)

    def purge(self):
        """Removes what we made, and the directory if that was all."""
        for pattern in OURS:
            for path in self.directory.glob(pattern):
                shutil.rmtree(path) if path.is_dir() else path.unlink()
        if not any(self.directory.iterdir()):
            self.directory.rmdir()

    # ---- what callers read

    def write_env(self):
        """Writes DIR/env for shells and returns the same variables."""
        settings = self.state["settings"]
        values = {"KUBECONFIG": self.path("kubeconfig"), "KUBECACHEDIR": self.path("kubectl-cache"), "KUBERC": "off",
                  "KUBECTL": f"{settings['binaries']}/kubectl", "KUBE_BIN": settings["binaries"],
                  "KUBE_DIR": str(self.directory), "KUBE_API": settings["api"], "KUBE_CA": self.path("pki", "ca.crt"),
                  "KUBE_TOKEN": settings["admin_token"], "KUBE_AUDIT_LOG": settings["audit_log"],
                  "KUBE_SERVICE_CIDR": settings["service_cidr"], "KUBE_POD_CIDR": settings["pod_cidr"]}
        for name, program in self.state["programs"].items():
            prefix = "KUBE_" + name.removeprefix("kube-").replace("-", "_").upper()
            values[prefix + "_PID"] = str(program["pid"])
            values[prefix + "_URL"] = program["ready"].rsplit("/", 1)[0]
        self.replace("env", "".join(f"export {name}={shlex.quote(value)}\n" for name, value in values.items()))
        return values


def child_environment():
    """No proxy between the API server and its nodes, no ETCD_* settings: only what Go's runtime reads."""
    kept = ("PATH", "HOME", "TMPDIR", "GOMAXPROCS", "GOGC", "GOMEMLIMIT", "GODEBUG")
    return {name: os.environ[name] for name in kept if name in os.environ}


def ended_by(number, handle):
    signal.pidfd_send_signal(handle, number)
    poll = select.poll()
    poll.register(handle, select.POLLIN)  # readable once the process has ended
    return bool(poll.poll(STOP_SECONDS * 1000))


def last_lines(path, count=15):
    return "\n".join("    " + line for line in path.read_text(errors="replace").splitlines()[-count:])


# ---- the programs' flags


def etcd_flags(cluster, client, peer, options):
    client, peer = f"http://{LOOPBACK}:{client}", f"http://{LOOPBACK}:{peer}"
    return ["--name=muster-test", "--data-dir=" + cluster.path("etcd"), "--socket-reuse-port", "--log-level=warn",
            f"--listen-client-urls={client}", f"--advertise-client-urls={client}", f"--listen-peer-urls={peer}",
            f"--initial-advertise-peer-urls={peer}", f"--initial-cluster=muster-test={peer}",
            f"--quota-backend-bytes={8 << 30}",
            *(["--unsafe-no-fsync"] if options.etcd_unsafe_no_fsync else []), *options.etcd_flag]


def serving_flags(cluster, port):
    return [f"--bind-address={LOOPBACK}", f"--secure-port={port}", "--permit-port-sharing",
            "--tls-cert-file=" + cluster.path("pki", "apiserver.crt"),
            "--tls-private-key-file=" + cluster.path("pki", "apiserver.key")]


def client_flags(cluster, user):
    kubeconfig = str(identities.kubeconfig(cluster, user))
    return ["--kubeconfig=" + kubeconfig, "--authentication-kubeconfig=" + kubeconfig,
            "--authorization-kubeconfig=" + kubeconfig, "--authentication-skip-lookup", "--leader-elect=false"]


def apiserver_flags(cluster, port, etcd, options):
    key = cluster.path("pki", "service-account.key")
    flags = [*serving_flags(cluster, port), f"--advertise-address={LOOPBACK}", "--endpoint-reconciler-type=none",
             f"--etcd-servers=http://{LOOPBACK}:{etcd}", f"--service-cluster-ip-range={options.service_cidr}",
             "--authorization-mode=Node,RBAC", "--allow-privileged",
             "--token-auth-file=" + cluster.path("tokens.csv"), "--client-ca-file=" + cluster.path("pki", "ca.crt"),
             "--service-account-issuer=https://kubernetes.default.svc.cluster.local",
             "--service-account-key-file=" + key, "--service-account-signing-key-file=" + key,
             "--kubelet-client-certificate=" + cluster.path("pki", "kubelet-client.crt"),
             "--kubelet-client-key=" + cluster.path("pki", "kubelet-client.key"),
             "--kubelet-preferred-address-types=InternalIP,Hostname",
             "--shutdown-watch-termination-grace-period=1s"]  # else open watches hold up its end for a minute
    if not options.with_controller_manager:  # nobody makes the account 'default' that this plugin asks for
        flags += ["--disable-admission-plugins=ServiceAccount"]
    if options.audit:  # one file, however large: a reader follows it
        flags += ["--audit-policy-file=" + cluster.path("audit-policy.json"),
                  "--audit-log-path=" + cluster.path("audit.log"), "--audit-log-maxsize=100000"]
    return flags + options.apiserver_flag


def controller_manager_flags(cluster, port, options):
    return [*serving_flags(cluster, port), *client_flags(cluster, identities.MANAGER),
            "--use-service-account-credentials", "--root-ca-file=" + cluster.path("pki", "ca.crt"),
            "--service-account-private-key-file=" + cluster.path("pki", "service-account.key"),
            "--flex-volume-plugin-dir=" + cluster.path("flexvolume"),  # else it makes one below /usr
            "--kube-api-qps=200", "--kube-api-burst=400",  # with the default of 20 its start takes 4 s longer
            *options.controller_manager_flag]


def scheduler_flags(cluster, port, options):
    configuration = ["--config=" + cluster.path("scheduler.json")] if options.scheduler_profile else []
    return [*serving_flags(cluster, port), *client_flags(cluster, identities.SCHEDULER), *configuration, *options.scheduler_flag]


def scheduler_configuration(cluster, profiles):
    """Answers to more names than its own. Beside a file the flags that say the same count for nothing."""
    return {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration",
            "clientConnection": {"kubeconfig": str(identities.kubeconfig(cluster, identities.SCHEDULER))},
            "leaderElection": {"leaderElect": False},
            "profiles": [{"schedulerName": name} for name in ("default-scheduler", *profiles)]}


def audit_policy(reads, bodies):
    """One line a write, when it is answered; optionally reads too, and the objects of some resources."""
    writes = ["create", "update", "patch", "delete", "deletecollection"]
    rules = []
    for resource in bodies:
        name, _, group = resource.partition(".")
        rules.append({"level": "RequestResponse", "verbs": writes,
                      "resources": [{"group": group, "resources": [name, name + "/*"]}]})
    rules.append({"level": "Metadata", **({} if reads else {"verbs": writes})})
    rules.append({"level": "None"})
    return {"apiVersion": "audit.k8s.io/v1", "kind": "Policy", "omitStages": ["RequestReceived"],
            "omitManagedFields": True, "rules": rules}
