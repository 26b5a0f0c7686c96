"""What the suites of the embedded cluster share: a home of their own, the CLI, the API on its socket, the store."""
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
import tempfile

from checks import BIN, PATIENCE, Failure, Final, check, finished_as, uninterrupted, wait_until
from machine import Traces, command_lines

MSJOBS = "/apis/mindspore.gitee.com/v1/namespaces/default/msjobs"
PADDLEJOBS = "/apis/batch.paddlepaddle.org/v1/namespaces/default/paddlejobs"
CHAINERJOBS = "/apis/kubeflow.org/v1alpha1/namespaces/default/chainerjobs"
MPIJOBS = "/apis/batch.tensorstack.dev/v1beta1/namespaces/default/mpijobs"
PODS = "/api/v1/namespaces/default/pods"


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
        self.sock.connect(str(self.path))  # waits where a connect with a timeout would give up: at a queue that is full
        self.sock.settimeout(self.timeout)


class Home:
    """A $MUSTER_HOME of its own, with a directory for the test's files. Ends with nothing left."""

    def __init__(self, above="/tmp"):
        self.top = pathlib.Path(tempfile.mkdtemp(prefix="mt.", dir=above))
        self.path = self.top / "home"
        self.files = self.top / "files"
        self.files.mkdir()
        self.traces = Traces(self.path)
        self.environment = {**os.environ, "PATH": f"{BIN}:{os.environ['PATH']}", "LC_ALL": "C.UTF-8"}
        for name in ("MUSTER_HOME", "KUBECONFIG", "FORCE_COLOR", "CLICOLOR_FORCE"):
            self.environment.pop(name, None)
        self.programs = BIN  # where the muster that is started lies
        self.up_process = None
        self.children = []
        self.before_start = None  # what a process does right before it becomes muster

    # --- the CLI

    def start(self, *arguments):
        """A muster that runs beside us; stdout and stderr go to files so that nothing blocks."""
        number = len(self.children)
        out = (self.files / f"out-{number}").open("w+")
        err = (self.files / f"err-{number}").open("w+")
        process = subprocess.Popen([self.programs / "muster", "--home", self.path, *map(str, arguments)], stdin=subprocess.DEVNULL, stdout=out,
                                   stderr=err, env=self.environment, start_new_session=True, preexec_fn=self.before_start)
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

    def up(self, *flags):
        self.up_process = self.start("up", *flags)
        self.wait_for_api()
        return self.up_process

    def wait_for_api(self):
        def answers():
            if self.up_process.poll() is not None:
                raise Final(f"muster up ended: {self.up_process.err_path.read_text(errors='replace')[-2000:]}")
            try:  # by us: one that was started for commands answers, too, until it steps aside
                return self.owner() == self.up_process.pid and self.api("GET", "/api/v1/namespaces/default")[0] == 200
            except OSError:
                return False
        wait_until(answers, "the API of muster up", pause=0.005)

    def owner(self):
        """The process that has the home, or had it last; None when nobody had it yet."""
        with contextlib.suppress(OSError, ValueError):
            return int((self.path / "lock").read_text())
        return None

    def plane(self):
        """The process that runs the control plane for the commands of the home; None when there is none."""
        for pid, words in command_lines():
            if words[1:4] == ["--home", str(self.path), "plane"]:
                return pid
        return None

    def kill_planes(self):
        while pid := self.plane():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
            wait_until(lambda: self.plane() != pid, "a killed plane to go")

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
        """What is there; a test asks for nothing else, so another answer ends it, also while it waits."""
        status, value = self.api("GET", path)
        if status != 200:
            raise Final(f"GET {path}: {status} {value}")
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
            rows = database.execute("SELECT json FROM objects WHERE key LIKE ? ORDER BY key", (resource + "/%",))
            return [json.loads(row[0]) for row in rows]

    def history(self, resource, name):
        """Every version of an object, oldest first."""
        with self.store() as database:
            rows = database.execute("SELECT json FROM log WHERE key = ? ORDER BY rv", (f"{resource}/default/{name}",))
            return [json.loads(row[0]) for row in rows]

    # --- the end

    def close(self):
        try:
            self.stop_everything()
        except (Failure, OSError, subprocess.TimeoutExpired) as error:
            print(f"    | cleaning up {self.path}: {error}")
        finally:
            self.kill_everything()
            shutil.rmtree(self.top, ignore_errors=True)

    def kill_everything(self):
        """By force, when asking did not help."""
        for process in self.children:
            if process.poll() is None:
                process.kill()
                process.wait()
        self.kill_planes()
        self.traces.clear()

    def stop_everything(self):
        for process in self.children:
            if process is not self.up_process and process.poll() is None:
                process.kill()
                process.wait()
        if not self.path.exists():
            return
        if self.up_process is None or self.up_process.poll() is not None:
            if not self.traces.shims() and not self.traces.links() and not self.plane():
                return
            self.up()
        for jobs in (MSJOBS, PADDLEJOBS, CHAINERJOBS, MPIJOBS):
            for item in self.get(jobs)["items"]:
                self.api("DELETE", f"{jobs}/{item['metadata']['name']}")
        for pod in self.pods():
            self.api("DELETE", f"{PODS}/{pod['metadata']['name']}?gracePeriodSeconds=1")
        wait_until(lambda: not self.pods(), "the pods to go")
        self.down()


@contextlib.contextmanager
def home(above="/tmp"):
    it = Home(above)
    try:
        yield it
    except Exception:
        if it.up_process is not None and it.up_process.err_path.exists():
            print("    | " + "\n    | ".join(it.up_process.err_path.read_text(errors="replace").splitlines()[-20:]))
        raise
    finally:
        with uninterrupted():
            it.close()


@contextlib.contextmanager
def small_home(megabytes):
    """A home that is a file system of its own, of that size."""
    with home() as it:
        it.path.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", it.path], check=True)
        try:
            yield it
        finally:
            it.stop_everything()
            it.kill_planes()
            subprocess.run(["umount", "-l", it.path], check=True)


def verify(directory, ranks):
    done = subprocess.run([BIN / "muster-trainer", "verify", directory, "--ranks", str(ranks)], capture_output=True, text=True)
    return Ended(done.returncode, done.stdout, done.stderr)


def find_all(pattern, text):
    return re.findall(pattern, text, re.M)
