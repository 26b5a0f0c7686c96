"""What the suites of the embedded cluster share: a home of their own, the CLI, the API on its socket, the machine's state."""
import contextlib
import http.client
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
import traceback

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BIN = (ROOT / os.environ.get("MUSTER_BIN", "build/release")).resolve()
MSJOBS = "/apis/mindspore.gitee.com/v1/namespaces/default/msjobs"
PODS = "/api/v1/namespaces/default/pods"
# The machine may be busy with other things: generous, because a condition that holds ends a wait at once.
PATIENCE = 60


class Failure(Exception):
    """A check that did not hold; its text says what was seen."""


def check(holds, text):
    if not holds:
        raise Failure(text)


def equal(seen, wanted, what):
    check(seen == wanted, f"{what}: {seen!r}, not {wanted!r}")


def contains(text, part, what):
    check(part in text, f"{what}: no {part!r} in {text[-2000:]!r}")


def wait_until(condition, what, limit=PATIENCE, pause=0.02):
    """The first true value of the condition; Failure when there is none in time."""
    latest = time.monotonic() + limit
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > latest:
            raise Failure(f"waited {limit} s for {what}")
        time.sleep(pause)


class Suite:
    """Runs tests in order, prints a line for each and the totals; ends the program with the right code."""

    def __init__(self):
        self.passed = self.failed = 0
        self.words = sys.argv[1:]
        # Clean up also when the runner loses patience with us.
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))

    def test(self, name, body, *arguments):
        if self.words and not any(word in name for word in self.words):
            return
        begun = time.monotonic()
        try:
            body(*arguments)
        except Exception as error:  # a broken test is a failed one, the others still run
            self.failed += 1
            print(f"FAIL {name}: {error}", flush=True)
            if not isinstance(error, Failure):
                traceback.print_exc(file=sys.stdout)
            return
        self.passed += 1
        print(f"ok {name} ({time.monotonic() - begun:.1f} s)", flush=True)

    def finish(self):
        print(f"{self.passed} passed, {self.failed} failed, 0 skipped", flush=True)
        sys.exit(1 if self.failed or not self.passed else 0)


def stable_hash(text):
    """FNV-1a, as the product derives names from a home."""
    value = 0xCBF29CE484222325
    for byte in text.encode():
        value = (value ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return value


class Ended:
    """How a program ended."""

    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err

    def expect(self, code, what="exit code"):
        check(self.code == code, f"{what}: {self.code}, not {code}\n--- stdout\n{self.out[-3000:]}\n--- stderr\n{self.err[-3000:]}")
        return self


class Unix(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost", timeout=PATIENCE)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(str(self.path))


class Home:
    """A $MUSTER_HOME of its own in /tmp, with a directory for the test's files. Ends with nothing left."""

    def __init__(self):
        self.top = pathlib.Path(tempfile.mkdtemp(prefix="mt.", dir="/tmp"))
        self.path = self.top / "home"
        self.files = self.top / "files"
        self.files.mkdir()
        self.key = f"{stable_hash(str(self.path)) & 0xFFFFFFFF:08x}"
        self.environment = {**os.environ, "PATH": f"{BIN}:{os.environ['PATH']}", "LC_ALL": "C.UTF-8"}
        for name in ("MUSTER_HOME", "KUBECONFIG", "FORCE_COLOR", "CLICOLOR_FORCE"):
            self.environment.pop(name, None)
        self.up_process = None
        self.children = []

    # --- the CLI

    def start(self, *arguments):
        """A muster that runs beside us; stdout and stderr go to files so that nothing blocks."""
        number = len(self.children)
        out = (self.files / f"out-{number}").open("w+")
        err = (self.files / f"err-{number}").open("w+")
        process = subprocess.Popen([BIN / "muster", "--home", self.path, *map(str, arguments)], stdin=subprocess.DEVNULL, stdout=out,
                                   stderr=err, env=self.environment, start_new_session=True)
        process.out_path, process.err_path = pathlib.Path(out.name), pathlib.Path(err.name)
        out.close()
        err.close()
        self.children.append(process)
        return process

    def ended(self, process, limit=PATIENCE):
        try:
            process.wait(limit)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            raise Failure(f"{process.args[3:]} did not end within {limit} s: {process.err_path.read_text(errors='replace')[-2000:]}")
        return Ended(process.returncode, process.out_path.read_text(errors="replace"), process.err_path.read_text(errors="replace"))

    def muster(self, *arguments, limit=PATIENCE):
        return self.ended(self.start(*arguments), limit)

    def run(self, job, limit=PATIENCE):
        """`muster run` of a manifest given as object, list of objects or text."""
        return self.muster("run", self.write(job), limit=limit)

    def write(self, manifest, name="job.yaml"):
        path = self.files / name
        if isinstance(manifest, (dict, list)):
            documents = manifest if isinstance(manifest, list) else [manifest]
            manifest = "\n---\n".join(json.dumps(document) for document in documents)
        path.write_text(manifest)
        return path

    def json(self, *arguments):
        return json.loads(self.muster("get", *arguments, "-o", "json").expect(0).out)

    # --- the control plane

    def up(self):
        self.up_process = self.start("up")
        self.wait_for_api()
        return self.up_process

    def wait_for_api(self):
        def answers():
            check(self.up_process.poll() is None, f"muster up ended: {self.up_process.err_path.read_text(errors='replace')[-2000:]}")
            try:
                return self.api("GET", "/api/v1/namespaces/default")[0] == 200
            except OSError:
                return False
        wait_until(answers, "the API of muster up", pause=0.005)

    def down(self):
        if self.up_process is None or self.up_process.poll() is not None:
            return
        self.up_process.send_signal(signal.SIGTERM)
        self.up_process.wait(PATIENCE)

    def api(self, method, path, body=None):
        connection = Unix(self.path / "muster.sock")
        try:
            connection.request(method, path, None if body is None else json.dumps(body), {"Content-Type": "application/json"})
            answer = connection.getresponse()
            data = answer.read()
            return answer.status, json.loads(data) if data else None
        except http.client.HTTPException as error:
            raise ConnectionError(str(error)) from error
        finally:
            connection.close()

    def get(self, path):
        status, value = self.api("GET", path)
        check(status == 200, f"GET {path}: {status} {value}")
        return value

    def create(self, job):
        status, value = self.api("POST", MSJOBS, job)
        check(status == 201, f"creating {job['metadata']['name']}: {status} {value}")
        return value

    def job(self, name):
        return self.get(f"{MSJOBS}/{name}")

    def pods(self):
        return self.get(PODS)["items"]

    def events(self, name):
        """Reasons and messages of the events about a job."""
        items = self.get("/api/v1/namespaces/default/events")["items"]
        return [(item["type"], item["reason"], item["message"]) for item in items if item["involvedObject"]["name"] == name]

    def wait_finished(self, name, limit=PATIENCE):
        def finished():
            job = self.job(name)
            return job if finished_as(job) else None
        return wait_until(finished, f"{name} to finish", limit)

    # --- the store, read from a copy so that the control plane finds it as it left it

    @contextlib.contextmanager
    def store(self):
        with tempfile.TemporaryDirectory(dir=self.files) as copy:
            for name in ("store.db", "store.db-wal"):
                if (self.path / name).exists():
                    shutil.copy(self.path / name, copy)
            database = sqlite3.connect(pathlib.Path(copy, "store.db"))
            try:
                yield database
            finally:
                database.close()

    def stored(self, resource):
        """Every object of a resource as the store has it."""
        with self.store() as database:
            return [json.loads(row[0]) for row in database.execute("SELECT json FROM objects WHERE key LIKE ? ORDER BY key", (resource + "/%",))]

    def history(self, resource, name):
        """Every version of an object, oldest first."""
        with self.store() as database:
            rows = database.execute("SELECT json FROM log WHERE key = ? ORDER BY rv", (f"{resource}/default/{name}",))
            return [json.loads(row[0]) for row in rows]

    # --- the machine

    def shims(self):
        """pid → directory of the pods' shims of this home; a pod's first process is a fork of its shim and none."""
        found = {pid: words[1] for pid, words in command_lines() if len(words) == 2 and words[1].startswith(f"{self.path}/pods/")}
        return {pid: directory for pid, directory in found.items() if parent_of(pid) not in found}

    def pod_processes(self, uid):
        """pid → command line of all processes of a pod but its shim's."""
        shims = {pid for pid, directory in self.shims().items() if directory.endswith("/" + uid)}
        lines = dict(command_lines())
        parents = {pid: parent_of(pid) for pid in lines}
        def below(pid):
            while pid in parents:
                pid = parents[pid]
                if pid in shims:
                    return True
            return False
        return {pid: words for pid, words in lines.items() if words and below(pid)}

    def pid_of(self, pod, program):
        """The host's pid of a program in a pod's container."""
        def found():
            for pid, words in self.pod_processes(pod["metadata"]["uid"]).items():
                if pathlib.Path(words[0]).name == program and not words[0].endswith("muster-shim"):
                    return pid
            return None
        return wait_until(found, f"{program} of {pod['metadata']['name']}")

    def leftovers(self):
        """What this home has on the machine, by sort."""
        return {sort: found for sort, found in {
            "processes": [f"{pid} {' '.join(words)}" for pid, words in command_lines() if belongs(pid, words, self.top)],
            "mounts": [line for line in pathlib.Path("/proc/self/mountinfo").read_text().splitlines() if str(self.top) in line],
            "links": self.links(),
            "routes": self.routes(),
            "cgroups": self.cgroups(),
            "shared memory": [str(path) for path in pathlib.Path("/dev/shm").glob(f"muster-{self.key}-*")],
            "pod directories": [str(path) for path in (self.path / "pods").glob("*")],
        }.items() if found}

    def links(self):
        # The host's ends of pods' links are in the bridge; one that lost it would be in nobody's.
        lines = output("ip", "-o", "link").splitlines()
        return [line for line in lines if f"muster{self.key}" in line]

    def routes(self):
        metric = 0x4D000000 | stable_hash(self.key) & 0xFFFFFF
        return [line for line in output("ip", "route").splitlines() if f"muster{self.key}" in line or f"metric {metric}" in line]

    def cgroups(self):
        return [str(path) for root in ("memory", "cpu", "") for path in pathlib.Path("/sys/fs/cgroup", root, "muster").glob(f"{self.key}*")]

    # --- the end

    def close(self):
        try:
            self.stop_everything()
        except (Failure, OSError, subprocess.TimeoutExpired) as error:
            print(f"    | cleaning up {self.path}: {error}", flush=True)
        finally:
            self.kill_everything()
            shutil.rmtree(self.top, ignore_errors=True)

    def kill_everything(self):
        """By force, when asking did not help."""
        for process in self.children:
            if process.poll() is None:
                process.kill()
                process.wait()
        for pid in self.shims():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        if self.links():
            subprocess.run(["ip", "link", "delete", f"muster{self.key}"], check=False)
        for line in self.routes():
            subprocess.run(["ip", "route", "delete", *line.split()], check=False)

    def stop_everything(self):
        for process in self.children:
            if process is not self.up_process and process.poll() is None:
                process.kill()
                process.wait()
        if not self.path.exists():
            return
        if self.up_process is None or self.up_process.poll() is not None:
            if not self.shims() and not self.links():
                return
            self.up()
        jobs = [item["metadata"]["name"] for item in self.get(MSJOBS)["items"]]
        for name in jobs:
            self.api("DELETE", f"{MSJOBS}/{name}")
        for pod in self.pods():
            self.api("DELETE", f"{PODS}/{pod['metadata']['name']}?gracePeriodSeconds=1")
        wait_until(lambda: not self.pods(), "the pods to go")
        self.down()


@contextlib.contextmanager
def home():
    it = Home()
    try:
        yield it
    except Exception:
        if it.up_process is not None and it.up_process.err_path.exists():
            print("    | " + "\n    | ".join(it.up_process.err_path.read_text(errors="replace").splitlines()[-20:]), flush=True)
        raise
    finally:
        it.close()


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def pids():
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def parent_of(pid):
    with contextlib.suppress(OSError):
        stat = pathlib.Path(f"/proc/{pid}/stat").read_text()
        return int(stat[stat.rindex(")") + 2:].split()[1])
    return None


def command_lines():
    found = []
    for pid in pids():
        with contextlib.suppress(OSError):
            words = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace").split("\0")[:-1]
            found.append((pid, words))
    return found


def belongs(pid, words, top):
    """Whether a process is a shim of the home or runs in one of its pods: their roots are below it."""
    if any(str(top) in word for word in words) and words[0].endswith("muster-shim"):
        return True
    with contextlib.suppress(OSError):
        return str(top) in pathlib.Path(f"/proc/{pid}/mountinfo").read_text() and pid != os.getpid()
    return False


def network_namespaces():
    """Network namespace → a process in it."""
    found = {}
    for pid in pids():
        with contextlib.suppress(OSError):
            found.setdefault(os.readlink(f"/proc/{pid}/ns/net"), pid)
    return found


def conditions(job):
    return {one["type"]: one for one in job.get("status", {}).get("conditions", [])}


def finished_as(job):
    """Succeeded, Failed or None."""
    held = conditions(job)
    for kind in ("Succeeded", "Failed"):
        if held.get(kind, {}).get("status") == "True":
            return kind
    return None


# --- manifests

def container(command, **more):
    words = ["/bin/sh", "-c", command] if isinstance(command, str) else list(command)
    return {"name": "mindspore", "image": "muster/test:latest", "command": words, **more}


def role(command, replicas=1, restart="Never", directory=None, spec=None, **more):
    """A role of one container; `directory` of the host is mounted at its own path."""
    main = container(command, **more)
    pod = {"containers": [main], "terminationGracePeriodSeconds": 5, **(spec or {})}
    if directory:
        pod["volumes"] = [{"name": "files", "hostPath": {"path": str(directory), "type": "DirectoryOrCreate"}}]
        main["volumeMounts"] = [{"name": "files", "mountPath": str(directory)}]
    return {"replicas": replicas, "restartPolicy": restart, "template": {"spec": pod}}


def msjob(name, policy=None, success=None, **roles):
    spec = {"msReplicaSpecs": roles}
    if policy:
        spec["runPolicy"] = policy
    if success:
        spec["successPolicy"] = success
    return {"apiVersion": "mindspore.gitee.com/v1", "kind": "MSJob", "metadata": {"name": name}, "spec": spec}


def training(name, directory, workers, *flags, restart="ExitCode", policy=None):
    """A job of muster-trainer whose ranks write to a directory of the host."""
    command = ["muster-trainer", "--checkpoint-dir", str(directory), *map(str, flags)]
    return msjob(name, policy, "AllWorkers",
                 Scheduler=role(command, 1, restart, directory),
                 Worker=role(command, workers, restart, directory))


def verify(directory, ranks):
    done = subprocess.run([BIN / "muster-trainer", "verify", directory, "--ranks", str(ranks)], capture_output=True, text=True)
    return Ended(done.returncode, done.stdout, done.stderr)


def find_all(pattern, text):
    return re.findall(pattern, text, re.M)
