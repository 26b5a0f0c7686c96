"""The two clusters behind one door: `muster run MANIFEST`, and what the job printed."""
import contextlib
import os
import subprocess

from checks import BIN, ROOT, Failure
from kube_support import Kube
from local_support import Ended, home

# Of one job. The slowest takes 40 s on two idle cores; whatever hangs ends here.
JOB_LIMIT = 240


class Cluster:
    """Where a row runs. `directory` is for its manifest."""

    def __init__(self, directory, flags, environment):
        self.directory, self.flags, self.environment = directory, flags, environment

    def muster(self, verb, *words, limit):
        command = [BIN / "muster", verb, *words, *self.flags]
        try:
            done = subprocess.run(command, cwd=ROOT, env=self.environment, text=True, errors="replace", capture_output=True,
                                  stdin=subprocess.DEVNULL, timeout=limit, check=False)
        except subprocess.TimeoutExpired as late:
            raise Failure(f"muster {verb} did not end within {limit} s; the end of what it said:\n{tail(late.stdout)}\n{tail(late.stderr)}") from None
        return Ended(done.returncode, done.stdout, done.stderr)

    def run(self, manifest):
        """Runs a job to its end and removes it."""
        path = self.directory / "job.yaml"
        path.write_text(manifest)
        try:
            return self.muster("run", path, limit=JOB_LIMIT)
        finally:
            self.muster("delete", "-f", path, limit=60)


def tail(output):
    text = output.decode(errors="replace") if isinstance(output, bytes) else output or ""
    return text[-1500:]


@contextlib.contextmanager
def embedded(_suite):
    with home() as it:
        it.up()
        yield Cluster(it.files, ["--home", it.path], it.environment)


@contextlib.contextmanager
def kubernetes(suite):
    """A real API server with all its companions, the operator with the rights of deploy/, and a node on this machine."""
    kube = Kube(suite, "--with-controller-manager", "--with-scheduler")
    kube.install()
    kube.node("main")
    kube.operator()
    environment = {**os.environ, "LC_ALL": "C.UTF-8"}
    yield Cluster(suite.directory, ["--kubeconfig", kube.env["KUBECONFIG"]], environment)
